#include "puforest/columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "column_encoder.hpp"
#include "puforest/kernels.hpp"
#include "puforest/sampling.hpp"

namespace puforest {

// Replace codes of two bytes by one byte and a bit in columns of 256 values and missing ones.
// Returns the bytes with the bits, each of eight columns; their offsets are those among all such
// bytes.
std::vector<const std::byte*> separate_gaps(Columns& columns, unsigned n_threads,
                                            const Poll& poll) {
    std::vector<Column*> gapped;
    for (Column& column : columns.column) {
        if (column.has_missing() && column.missing_code() == CodesWithGaps::kMissing) {
            gapped.push_back(&column);
        }
    }
    const std::size_t n = columns.n_rows;
    std::vector<const std::byte*> shared((gapped.size() + 7) / 8);
    run_tasks(
        shared.size(), n_threads,
        [&](std::size_t k, const StopFlag&) {
            std::byte* const gaps = columns.memory->take(n);
            std::fill_n(gaps, n, std::byte{0});
            shared[k] = gaps;
            for (std::size_t bit = 0; bit < 8 && 8 * k + bit < gapped.size(); ++bit) {
                Column& column = *gapped[8 * k + bit];
                column.width_ = 1;
                column.gap_ = static_cast<std::uint8_t>(1u << bit);
                column.gaps_ = gaps;
                column.gap_offset_ = static_cast<std::uint32_t>(k);
                // In place: byte i is written after the codes before it were read.
                auto* const bytes = const_cast<std::byte*>(column.codes_);
                const auto* const codes = reinterpret_cast<const std::uint16_t*>(column.codes_);
                for (std::size_t i = 0; i < n; ++i) {
                    const std::uint16_t code = codes[i];
                    gaps[i] |= static_cast<std::byte>(code >> 8 << bit);
                    bytes[i] = static_cast<std::byte>(code);
                }
            }
        },
        poll);
    return shared;
}

// Fill by_row. The widest codes come first in a row, so that all codes are aligned.
void store_by_row(Columns& columns, unsigned n_threads, const Poll& poll) {
    const std::vector<const std::byte*> gaps = separate_gaps(columns, n_threads, poll);
    std::uint32_t bytes = 0;
    std::size_t widest = 1;
    std::array<std::vector<const std::byte*>, 3> by_width;  // widths 4, 2, 1
    std::array<std::size_t, 3> n_columns{};
    std::array<std::size_t, 3> begin{};  // their offsets in a row
    for (std::size_t w = 0; w < 3; ++w) {
        const std::uint32_t width = 4u >> w;
        begin[w] = bytes;
        for (Column& column : columns.column) {
            if (column.width_ != width) continue;
            column.offset_ = bytes;
            bytes += width;
            widest = std::max<std::size_t>(widest, width);
            by_width[w].push_back(column.codes_);
        }
        if (width == 1) {
            for (Column& column : columns.column) column.gap_offset_ += bytes;
            by_width[w].insert(by_width[w].end(), gaps.begin(), gaps.end());
            bytes += static_cast<std::uint32_t>(gaps.size());
        }
        columns.width_ends[w] = bytes;
        n_columns[w] = by_width[w].size();
        by_width[w].resize(n_columns[w] + Lines::kPadding, n_columns[w] ? by_width[w][0] : nullptr);
    }
    columns.row_bytes = round_up(bytes, widest);
    const std::size_t row_bytes = columns.row_bytes;
    std::byte* const by_row = columns.memory->take(row_bytes * columns.n_rows + Lines::kPadding);
    columns.by_row = by_row;

    const Kernels& loops = *columns.loops;
    const auto store = [&]<class CodeType>(std::size_t w, CodeType, std::size_t first,
                                           std::size_t last) {
        if (n_columns[w] == 0) return;
        std::byte* const out = by_row + first * row_bytes + begin[w];
        loops.of<CodeType>().transpose(
            {by_width[w].data(), n_columns[w], first * sizeof(CodeType), last - first}, out,
            row_bytes);
    };
    constexpr std::size_t kRows = 256;  // a block of rows that fits into the L2 cache
    const std::size_t n_blocks = (columns.n_rows + kRows - 1) / kRows;
    run_tasks(
        n_blocks, n_threads,
        [&](std::size_t block, const StopFlag&) {
            const std::size_t first = block * kRows;
            const std::size_t last = std::min<std::size_t>(first + kRows, columns.n_rows);
            store(0, std::uint32_t{}, first, last);
            store(1, std::uint16_t{}, first, last);
            store(2, std::uint8_t{}, first, last);
        },
        poll);
}

// Copy the columns [first, last) of X into contiguous columns.
template <class Real>
void copy_columns(const Matrix<Real>& x, std::span<const Row> order, std::size_t first,
                  std::size_t last, std::span<Real> out) {
    const auto row = [&](std::size_t i) {
        return x.data + static_cast<std::ptrdiff_t>(order[i]) * x.row_stride +
               static_cast<std::ptrdiff_t>(first) * x.col_stride;
    };
    constexpr std::size_t kAhead = 24;  // rows are far apart: prefetch well ahead
    const std::size_t n = order.size();
    const std::size_t width = last - first;
    for (std::size_t i = 0; i < n; ++i) {
        const Real* const next = row(std::min(i + kAhead, n - 1));
        for (std::size_t j = 0; j < width; j += kCacheLine / sizeof(Real)) {
            __builtin_prefetch(next + static_cast<std::ptrdiff_t>(j) * x.col_stride);
        }
        const Real* const here = row(i);
        for (std::size_t j = 0; j < width; ++j) {
            out[j * n + i] = here[static_cast<std::ptrdiff_t>(j) * x.col_stride];
        }
    }
}

// The same for a sparse matrix.
template <class Real>
void copy_columns(const SparseMatrix<Real>& x, std::span<const Row> order, std::size_t first,
                  std::size_t last, std::span<Real> out) {
    const std::size_t n = order.size();
    std::fill_n(out.begin(), (last - first) * n, Real{0});
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t* const end = x.column + x.begin[order[i] + 1];
        const std::int32_t* at =
            std::lower_bound(x.column + x.begin[order[i]], end, static_cast<std::int32_t>(first));
        for (; at != end && static_cast<std::size_t>(*at) < last; ++at) {
            out[(static_cast<std::size_t>(*at) - first) * n + i] = x.data[at - x.column];
        }
    }
}

template <class Real>
bool is_column_major(const Matrix<Real>& x) {
    return x.row_stride == 1;
}

template <class Real>
bool is_column_major(const SparseMatrix<Real>&) {
    return false;
}

template <class Real>
void require_categories(std::span<const Real> values) {
    for (const Real x : values) {
        if (x != x || (x >= 0 && x < Real{kMaxCategories} && x == std::floor(x))) continue;
        throw std::invalid_argument(
            "a categorical feature has a value that is not the number of "
            "a category");
    }
}

template <class Table>
Columns encode(const Table& x, const FitRows& rows, std::span<const FeatureId> categorical,
               unsigned n_threads, const Poll& poll) {
    using Real = std::remove_cvref_t<decltype(*x.data)>;
    if (x.cols == 0) throw std::invalid_argument("X has no columns");
    if (x.cols > kMaxColumns) throw std::invalid_argument("too many columns: at most 2^29 - 1");
    check_order(rows.order, x.rows);
    // Neighboring columns are copied from X in blocks before they are encoded, since they share
    // cache lines in a row-major X. The copy stays below kBlockBytes if n allows.
    constexpr std::size_t kBlockBytes = std::size_t{64} << 20;
    const std::size_t n = rows.order.size();
    const std::size_t most_width = is_column_major(x) ? 1 : 2 * kCacheLine / sizeof(Real);
    const std::size_t width =
        std::clamp<std::size_t>(kBlockBytes / (n * sizeof(Real)), 1, most_width);
    const std::size_t n_blocks = (x.cols + width - 1) / width;

    Columns result;
    result.column.resize(x.cols);
    result.n_labeled = rows.n_labeled;
    result.n_rows = static_cast<std::uint32_t>(n);
    std::vector<bool> is_categorical(categorical.empty() ? 0 : x.cols);
    for (const FeatureId feature : categorical) is_categorical.at(feature) = true;
    std::atomic<std::size_t> next{0};
    const auto encode_blocks = [&](std::size_t, const StopFlag& stop) {
        const Memory memory = allocate(n * width * sizeof(Real));
        const std::span copy(reinterpret_cast<Real*>(memory.get()), n * width);
        ColumnEncoder<Real> encoder(*result.memory);
        for (std::size_t block; (block = next++) < n_blocks && !stop;) {
            const std::size_t first = block * width;
            const std::size_t last = std::min(first + width, x.cols);
            copy_columns(x, rows.order, first, last, copy);
            for (std::size_t j = first; j < last && !stop; ++j) {
                const std::span<const Real> values = copy.subspan((j - first) * n, n);
                const bool of_categories = !is_categorical.empty() && is_categorical[j];
                if (of_categories) require_categories(values);
                result.column[j] = encoder.encode(values);
                result.column[j].categorical_ = of_categories;
            }
        }
    };
    const std::size_t n_workers = std::min<std::size_t>(n_blocks, std::max(1u, n_threads));
    run_tasks(n_workers, n_threads, encode_blocks, poll);
    for (const Column& column : result.column) result.varies.push_back(column.varies());
    store_by_row(result, n_threads, poll);
    return result;
}

#define PUFOREST_ENCODE(Table)                                                                  \
    template Columns encode(const Table&, const FitRows&, std::span<const FeatureId>, unsigned, \
                            const Poll&);
PUFOREST_ENCODE(Matrix<float>)
PUFOREST_ENCODE(Matrix<double>)
PUFOREST_ENCODE(SparseMatrix<float>)
PUFOREST_ENCODE(SparseMatrix<double>)
#undef PUFOREST_ENCODE

}  // namespace puforest
