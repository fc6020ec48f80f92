#include "puforest/row_hashes.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "puforest/rng.hpp"

namespace puforest {
namespace {

// The hash of a row is the sum of those of its cells. Zeros add nothing, so that sparse matrices
// need not visit them.
template <class Real>
std::uint64_t cell_hash(Real value, std::size_t col) {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    const Real canonical = std::isnan(value) ? std::numeric_limits<Real>::quiet_NaN() : value;
    const std::uint64_t hash = derive(std::bit_cast<Bits>(canonical), col);
    return value == 0 ? 0 : hash;
}

}  // namespace

template <class Real>
std::vector<std::uint64_t> row_hashes(const Matrix<Real>& x) {
    std::vector<std::uint64_t> hash(x.rows);
    if (std::abs(x.col_stride) <= std::abs(x.row_stride)) {
        for (std::size_t i = 0; i < x.rows; ++i) {
            for (std::size_t j = 0; j < x.cols; ++j) hash[i] += cell_hash(x.at(i, j), j);
        }
    } else {
        for (std::size_t j = 0; j < x.cols; ++j) {
            for (std::size_t i = 0; i < x.rows; ++i) hash[i] += cell_hash(x.at(i, j), j);
        }
    }
    return hash;
}

template <class Real>
std::vector<std::uint64_t> row_hashes(const SparseMatrix<Real>& x) {
    std::vector<std::uint64_t> hash(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::int64_t k = x.begin[i]; k < x.begin[i + 1]; ++k) {
            hash[i] += cell_hash(x.data[k], static_cast<std::size_t>(x.column[k]));
        }
    }
    return hash;
}

template std::vector<std::uint64_t> row_hashes(const Matrix<float>&);
template std::vector<std::uint64_t> row_hashes(const Matrix<double>&);
template std::vector<std::uint64_t> row_hashes(const SparseMatrix<float>&);
template std::vector<std::uint64_t> row_hashes(const SparseMatrix<double>&);

}  // namespace puforest
