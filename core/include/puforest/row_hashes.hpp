// Hashes of the rows of a matrix, to find duplicates.
#pragma once

#include <cstdint>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

// Rows of equal values have the same hash, also as rows of a dense and of a sparse matrix. Missing
// values are equal to each other, and so are 0 and -0. Different rows have different hashes, but
// for a probability of about 2^-64 per pair.
template <class Real>
std::vector<std::uint64_t> row_hashes(const Matrix<Real>& x);
template <class Real>
std::vector<std::uint64_t> row_hashes(const SparseMatrix<Real>& x);

}  // namespace puforest
