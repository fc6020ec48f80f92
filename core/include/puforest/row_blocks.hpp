// Blocks of rows of a matrix, as pointers to their values: dense rows where they are, sparse rows
// expanded into a buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

inline constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMostRows = 1024;  // of a block

// Block of the rows [first, first + size) of a sequence of rows.
template <class Real>
struct RowBlock {
    std::size_t first;
    std::size_t size;
    std::ptrdiff_t col_stride;
    bool maybe_missing;  // false: no value is NaN
    std::array<const Real*, kMostRows> row;
};

// False if none of the values is NaN; true if one is, or if infinite sums cancel each other. One
// addition per value is the cheapest test; lanes let it use vectors.
template <class Real>
bool maybe_nan(const Real* values, std::size_t n) {
    constexpr std::size_t kLanes = 64 / sizeof(Real);
    std::array<Real, kLanes> lanes{};
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
    }
    Real sum = 0;
    for (; i < n; ++i) sum += values[i];
    for (const Real lane : lanes) sum += lane;
    return std::isnan(sum);
}

// The rows order[0], order[1], ... of a matrix; all rows if `order` is null. block_rows() is the
// most rows of a block. read(first, size, find_missing, use) calls use(block), and may do so on
// several threads at the same time.
template <class X>
class RowBlocks;

template <class Real>
class RowBlocks<Matrix<Real>> {
public:
    RowBlocks(const Matrix<Real>& x, const Row* order) : x_(x), order_(order) {}

    std::size_t block_rows() const {
        constexpr std::size_t kFewestRows = 32;
        return std::clamp(kBlockBytes / (x_.cols * sizeof(Real)), kFewestRows, kMostRows);
    }

    template <class Use>
    void read(std::size_t first, std::size_t size, bool find_missing, const Use& use) const {
        RowBlock<Real> block;
        block.first = first;
        block.size = size;
        block.col_stride = x_.col_stride;
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t row = order_ ? order_[first + k] : first + k;
            block.row[k] = x_.data + static_cast<std::ptrdiff_t>(row) * x_.row_stride;
        }
        block.maybe_missing = !find_missing || maybe_missing(block);
        use(std::as_const(block));
    }

private:
    // Only looks at values next to each other: other strides would make it slower than what a walk
    // without missing values saves.
    bool maybe_missing(const RowBlock<Real>& block) const {
        if (x_.col_stride == 1) {
            if (!order_ && x_.row_stride == static_cast<std::ptrdiff_t>(x_.cols)) {
                return maybe_nan(block.row[0], block.size * x_.cols);
            }
            return std::any_of(block.row.begin(), block.row.begin() + block.size,
                               [&](const Real* row) { return maybe_nan(row, x_.cols); });
        }
        if (order_ || x_.row_stride != 1) return true;
        for (std::size_t j = 0; j < x_.cols; ++j) {
            const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(j) * x_.col_stride;
            if (maybe_nan(block.row[0] + column, block.size)) return true;
        }
        return false;
    }

    Matrix<Real> x_;
    const Row* order_;
};

// Buffers are reused and contain zeros between uses, so that a block takes time for the values of
// its rows, not for all columns.
template <class Real>
class RowBlocks<SparseMatrix<Real>> {
public:
    RowBlocks(const SparseMatrix<Real>& x, const Row* order) : x_(x), order_(order) {}

    std::size_t block_rows() const {
        return std::clamp(kBlockBytes / (x_.cols * sizeof(Real)), std::size_t{1}, kMostRows);
    }

    template <class Use>
    void read(std::size_t first, std::size_t size, bool, const Use& use) {
        std::vector<Real> buffer = take(size * x_.cols);
        RowBlock<Real> block;
        block.first = first;
        block.size = size;
        block.col_stride = 1;
        block.maybe_missing = false;
        for (std::size_t k = 0; k < size; ++k) {
            Real* const row = buffer.data() + k * x_.cols;
            block.row[k] = row;
            const auto [begin, end] = values_of(first + k);
            for (std::int64_t i = begin; i < end; ++i) row[x_.column[i]] = x_.data[i];
            block.maybe_missing |=
                maybe_nan(x_.data + begin, static_cast<std::size_t>(end - begin));
        }
        use(std::as_const(block));
        for (std::size_t k = 0; k < size; ++k) {
            Real* const row = buffer.data() + k * x_.cols;
            const auto [begin, end] = values_of(first + k);
            for (std::int64_t i = begin; i < end; ++i) row[x_.column[i]] = 0;
        }
        const std::lock_guard lock(mutex_);
        unused_.push_back(std::move(buffer));
    }

private:
    std::pair<std::int64_t, std::int64_t> values_of(std::size_t k) const {
        const std::size_t row = order_ ? order_[k] : k;
        return {x_.begin[row], x_.begin[row + 1]};
    }

    std::vector<Real> take(std::size_t size) {
        std::vector<Real> buffer;
        {
            const std::lock_guard lock(mutex_);
            if (!unused_.empty()) {
                buffer = std::move(unused_.back());
                unused_.pop_back();
            }
        }
        if (buffer.size() < size) buffer.resize(size);
        return buffer;
    }

    SparseMatrix<Real> x_;
    const Row* order_;
    std::mutex mutex_;
    std::vector<std::vector<Real>> unused_;
};

}  // namespace puforest
