#include <limits>
#include <set>
#include <vector>

#include "check.hpp"
#include "puforest/rng.hpp"
#include "puforest/row_hashes.hpp"

namespace puforest::testing {
namespace {

template <class Real>
void hashes_compare_rows_by_value() {
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    const std::vector<Real> values{
        1, 0,          2,  //
        1, Real{-0.0}, 2,  // equal to the first row
        2, 0,          1,  // the same values in other columns
        1, nan,        2,  //
        1, -nan,       2,  // equal to the row before
    };
    const auto hash = row_hashes(Matrix<Real>{values.data(), 5, 3, 3, 1});
    CHECK(hash[0] == hash[1]);
    CHECK(hash[0] != hash[2]);
    CHECK(hash[3] == hash[4]);
    CHECK(hash[0] != hash[3]);

    // The same matrix by columns, and by rows without zeros but one
    std::vector<Real> by_column(15);
    for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 3; ++j) by_column[j * 5 + i] = values[i * 3 + j];
    }
    CHECK(row_hashes(Matrix<Real>{by_column.data(), 5, 3, 1, 5}) == hash);
    const std::vector<Real> filled{1, 2, 1, Real{-0.0}, 2, 2, 1, 1, nan, 2, 1, -nan, 2};
    const std::vector<std::int32_t> column{0, 2, 0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2};
    const std::vector<std::int64_t> begin{0, 2, 5, 7, 10, 13};
    CHECK(row_hashes(SparseMatrix<Real>{filled.data(), column.data(), begin.data(), 5, 3}) == hash);
}

TEST(row_hashes_compare_rows_by_value) {
    hashes_compare_rows_by_value<float>();
    hashes_compare_rows_by_value<double>();
}

// Small integers have many zero bits, which weak hashes do not mix.
TEST(row_hashes_of_different_rows_differ) {
    constexpr std::size_t kRows = 100000;
    std::vector<float> values(kRows * 17);
    for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < 17; ++j) values[i * 17 + j] = static_cast<float>(i >> j & 1);
    }
    const auto hash = row_hashes(Matrix<float>{values.data(), kRows, 17, 17, 1});
    CHECK(std::set(hash.begin(), hash.end()).size() == kRows);
}

}  // namespace
}  // namespace puforest::testing
