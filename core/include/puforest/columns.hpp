// The training matrix as lossless rank codes.
//
// The code of a value is its rank among the distinct values of its column, so `x <= t` on
// values is `code <= c` on codes, and a column of at most 256 distinct values takes one byte
// per row. A missing value, NaN, has a code of its own, above all others. If that is the 257th, the
// column still takes one byte per row, and a bit, which is set if the value is missing: eight such
// columns share a byte. Only this file knows the width of the codes of a column; use `visit` to
// read them.
//
// Codes are stored twice: by column, for large nodes, which stream through one column at a time,
// and by row, from which the rows of smaller nodes are copied (workset.hpp). Constant columns have
// no codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "puforest/compiler.hpp"
#include "puforest/kernels.hpp"
#include "puforest/memory.hpp"
#include "puforest/parallel.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Columns;

class Column {
public:
    // Call `use(const CodeType*)` or `use(CodesWithGaps)` with the codes of this column, which must
    // vary. `place(by position, offset)` returns where to read bytes: the first argument, or a copy
    // of these bytes, which have this offset in a row of Columns::by_row.
    template <class Place, class Use>
    decltype(auto) visit(Place&& place, Use&& use) const {
        const std::byte* const codes = place(codes_, offset_);
        switch (width_) {
            case 1: {
                const auto* const bytes = reinterpret_cast<const std::uint8_t*>(codes);
                if (gap_ == 0) return use(bytes);
                const std::byte* const gaps = place(gaps_, gap_offset_);
                return use(CodesWithGaps{bytes, reinterpret_cast<const std::uint8_t*>(gaps), gap_});
            }
            case 2: return use(reinterpret_cast<const std::uint16_t*>(codes));
            default: return use(reinterpret_cast<const std::uint32_t*>(codes));
        }
    }

    // By row position.
    const std::byte* codes() const { return codes_; }

    // Bytes per code: 1, 2 or 4, or 0 if the column is constant.
    std::size_t width() const { return width_; }

    // Offset of the code of this column in a row of Columns::by_row.
    std::uint32_t offset() const { return offset_; }

    // Whether the values are numbers of categories.
    bool categorical() const { return categorical_; }

    // Whether values are missing, and the code of missing values.
    bool has_missing() const { return has_missing_; }
    Code missing_code() const { return size_; }

    // Number of distinct values, and the value of a code. Values ascend with their codes.
    Code size() const { return size_; }
    bool varies() const { return size_ + has_missing_ > 1; }
    double value(Code code) const {
        if (!values_) return first_ + code;
        return single_ ? reinterpret_cast<const float*>(values_.get())[code]
                       : reinterpret_cast<const double*>(values_.get())[code];
    }

    // The largest code in [low, high] whose value is at most t. Requires value(low) <= t.
    PUFOREST_INLINE Code code_at_most(double t, Code low, Code high) const {
        if (!values_) {
            const double steps = t - first_;
            const Code code = steps < high ? static_cast<Code>(steps) : high;
            return value(code) <= t ? code : code - 1;  // t - first_ may have been rounded up
        }
        return single_ ? search<float>(t, low, high) : search<double>(t, low, high);
    }

private:
    // Binary search without branches to mispredict.
    template <class Real>
    PUFOREST_INLINE Code search(double t, Code low, Code high) const {
        const Real* const values = reinterpret_cast<const Real*>(values_.get());
        const Real* first = values + low;
        for (Code n = high - low + 1; n > 1;) {
            const Code half = n / 2;
            first = first[half] <= t ? first + half : first;
            n -= half;
        }
        return static_cast<Code>(first - values);
    }

    template <class Real>
    friend class ColumnEncoder;
    template <class Table>
    friend Columns encode(const Table&, const FitRows&, std::span<const FeatureId>, unsigned,
                          const Poll&);
    friend std::vector<const std::byte*> separate_gaps(Columns&, unsigned, const Poll&);
    friend void store_by_row(Columns&, unsigned, const Poll&);

    const std::byte* codes_ = nullptr;     // in Columns::memory
    const std::byte* gaps_ = nullptr;      // in Columns::memory; null without a bit for gaps
    std::unique_ptr<std::byte[]> values_;  // null if the value of code c is first_ + c
    double first_ = 0;
    Code size_ = 0;
    std::uint32_t offset_ = 0;
    std::uint32_t gap_offset_ = 0;  // of the byte with the bit for gaps
    std::uint8_t gap_ = 0;          // that bit, or 0 if missing values have a code like all others
    std::uint8_t width_ = 0;
    bool single_ = false;  // values are float, not double
    bool has_missing_ = false;
    bool categorical_ = false;
};

struct Columns {
    std::vector<Column> column;
    std::vector<bool> varies;     // by column; compact, for millions of constant columns
    std::uint32_t n_labeled = 0;  // positions [0, n_labeled) are the labeled rows
    std::uint32_t n_rows = 0;
    const std::byte* by_row = nullptr;  // row_bytes per row, column j at column[j].offset()
    std::size_t row_bytes = 0;
    // Ends of the codes of four, two and one bytes within a row.
    std::array<std::uint32_t, 3> width_ends{};
    // Selected once per fit.
    const Kernels* loops = &kernels();
    std::unique_ptr<Arena> memory = std::make_unique<Arena>();  // of all codes
};

// Encode rows of a Matrix or a SparseMatrix. Values must be finite or NaN; those of categorical
// features must be NaN or whole numbers below kMaxCategories, or std::invalid_argument is thrown,
// as for rows that `x` does not have, or an `x` without columns.
template <class Table>
Columns encode(const Table& x, const FitRows& rows, std::span<const FeatureId> categorical,
               unsigned n_threads, const Poll& poll);

}  // namespace puforest
