// The training matrix as lossless rank codes.
//
// The code of a value is its rank among the distinct values of its column, so `x <= t` on
// values is `code <= c` on codes, and a column of at most 256 distinct values takes a byte a
// row. Only this file knows how wide a column's codes are; use `visit` to get at them.
//
// Codes are kept twice: by column for the large nodes, which stream through the one column they
// ask for, and by row, out of which the rows of smaller nodes are copied (workset.hpp). Columns
// of a single value have no codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "puforest/kernels.hpp"
#include "puforest/memory.hpp"
#include "puforest/parallel.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Columns;

class Column {
public:
    // Call `use(const CodeType*)` with `codes`, which are those of this column wherever they are
    // kept; it must vary.
    template <class Use>
    decltype(auto) visit(const std::byte* codes, Use&& use) const {
        switch (width_) {
            case 1: return use(reinterpret_cast<const std::uint8_t*>(codes));
            case 2: return use(reinterpret_cast<const std::uint16_t*>(codes));
            default: return use(reinterpret_cast<const std::uint32_t*>(codes));
        }
    }

    // By row position.
    const std::byte* codes() const { return codes_; }

    // Bytes per code: 1, 2 or 4, or 0 if there are none.
    std::size_t width() const { return width_; }

    // Where the code of this column stands within a row of Columns::by_row.
    std::uint32_t offset() const { return offset_; }

    // The number of distinct values, and the value of a code. Values ascend with their codes.
    Code size() const { return size_; }
    bool varies() const { return size_ > 1; }
    double value(Code code) const {
        if (!values_) return first_ + code;
        return single_ ? reinterpret_cast<const float*>(values_.get())[code]
                       : reinterpret_cast<const double*>(values_.get())[code];
    }

    // The largest code in [low, high] whose value is at most t; value(low) must be.
    Code code_at_most(double t, Code low, Code high) const {
        if (!values_) {
            const double steps = t - first_;
            const Code code = steps < high ? static_cast<Code>(steps) : high;
            return value(code) <= t ? code : code - 1;  // rounding may have gone up
        }
        while (low < high) {
            const Code middle = high - (high - low) / 2;
            if (value(middle) <= t) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

private:
    template <class Real>
    friend class ColumnEncoder;
    friend void store_by_row(Columns&, unsigned, const Poll&);

    const std::byte* codes_ = nullptr;     // in Columns::memory
    std::unique_ptr<std::byte[]> values_;  // null where code c stands for the number first_ + c
    double first_ = 0;
    Code size_ = 0;
    std::uint32_t offset_ = 0;
    std::uint8_t width_ = 0;
    bool single_ = false;  // values are float, not double
};

struct Columns {
    std::vector<Column> column;
    std::vector<bool> varies;     // by column; small beside `column`, where millions are constant
    std::uint32_t n_labeled = 0;  // positions [0, n_labeled) are the labeled rows
    std::uint32_t n_rows = 0;
    const std::byte* by_row = nullptr;  // row_bytes a row, column j at column[j].offset()
    std::size_t row_bytes = 0;
    // Within a row, codes of four bytes end here, then those of two, then those of one.
    std::array<std::uint32_t, 3> width_ends{};
    // Chosen here, once for all that a fit does with the codes.
    const Kernels* loops = &kernels();
    std::unique_ptr<Arena> memory = std::make_unique<Arena>();  // of all codes
};

// Encode the rows `order` of `x`, whose first `n_labeled` are the labeled ones. All values
// must be finite.
template <class Real>
Columns encode(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labeled,
               unsigned n_threads, const Poll& poll);

}  // namespace puforest
