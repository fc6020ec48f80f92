// Integer types of the core, and views of matrices and rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace puforest {

using Row = std::uint32_t;  // a position in the row order: labeled rows first
using FeatureId = std::uint32_t;
using Code = std::uint32_t;  // rank of a value among the distinct values of its column
using CategoryId = std::uint16_t;
using NodeId = std::int32_t;  // index within one tree; the root is 0

// Siblings are adjacent (right = left + 1), and a tree has at most 2n - 1 nodes, so this is the
// maximum number of rows for signed 32-bit node indices.
inline constexpr std::size_t kMaxRows = (std::size_t{1} << 30) - 1;

// Codes take up to four bytes, and offsets within a row are 32-bit.
inline constexpr std::size_t kMaxColumns = (std::size_t{1} << 29) - 1;

// Categories of a column are numbered from 0.
inline constexpr std::size_t kMaxCategories = 65535;

// A read-only view of a dense matrix with any strides, in elements.
template <class Real>
struct Matrix {
    const Real* data;
    std::size_t rows;
    std::size_t cols;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t col_stride;

    Real at(std::size_t row, std::size_t col) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride +
                    static_cast<std::ptrdiff_t>(col) * col_stride];
    }
};

// A read-only view of a sparse matrix by rows: row i has the values [begin[i], begin[i + 1]), in
// ascending order of their columns. All other values are 0.
template <class Real>
struct SparseMatrix {
    const Real* data;
    const std::int32_t* column;
    const std::int64_t* begin;
    std::size_t rows;
    std::size_t cols;
};

// The rows of X that a forest is fitted to: labeled rows first, then the unlabeled rows that were
// checked and found positive, then the other unlabeled rows.
struct FitRows {
    std::span<const Row> order;  // rows of X by position
    std::uint32_t n_labeled;
    std::span<const std::uint8_t> fold = {};  // by position; may be empty without folds
    std::uint32_t n_confirmed = 0;            // unlabeled rows found positive
    // Ids by position, which decide the trees that a row is drawn for; the rows of X if empty. They
    // differ if X is a part of a larger table.
    std::span<const std::uint64_t> ids = {};
    // Smaller than 1 if rows of a larger table are left out: those whose hash in every sample is
    // larger than this fraction of all hashes.
    double complete = 1;

    std::uint64_t id(Row position) const { return ids.empty() ? order[position] : ids[position]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(order.size()); }
    Row others_begin() const { return n_labeled + n_confirmed; }
};

}  // namespace puforest
