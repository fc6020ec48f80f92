// Encoding of missing values, categories and sparse matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "column_checks.hpp"
#include "helpers.hpp"
#include "puforest/columns.hpp"

namespace puforest::testing {
namespace {

// Of both signs and with different payloads.
template <class Real>
std::vector<Real> all_kinds_of_nan() {
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, -nan, std::numeric_limits<Real>::signaling_NaN(),
            static_cast<Real>(std::nan("77"))};
}

template <class Real>
std::vector<Real> with_missing(std::vector<Real> values, std::size_t n_missing, Rng& rng) {
    const std::vector<Real> nans = all_kinds_of_nan<Real>();
    for (std::size_t i = 0; i < n_missing; ++i) values.push_back(nans[i % nans.size()]);
    shuffle(std::span(values), rng);
    return values;
}

// All encoders, around the limits between the widths of their codes.
template <class Real>
void missing_codes_come_last() {
    Rng rng(1);
    for (const std::size_t distinct : {0, 1, 2, 3, 254, 255, 256, 257, 65534, 65535, 65536}) {
        std::vector<Real> whole;
        std::vector<Real> gaps;
        std::vector<Real> fractional;
        for (std::size_t i = 0; i < distinct; ++i) {
            const auto k = static_cast<Real>(i) - static_cast<Real>(distinct / 2);
            whole.push_back(k);
            gaps.push_back(2 * k);
            fractional.push_back(k * Real{1.1} + k * std::abs(k) * Real{1e-3});
        }
        check_ranks(with_missing(whole, 1, rng));
        check_ranks(with_missing(gaps, 2, rng));
        check_ranks(with_missing(fractional, 6, rng));
    }
}

TEST(columns_codes_of_missing_values_come_last) {
    missing_codes_come_last<float>();
    missing_codes_come_last<double>();
}

// Large integers, of which floats hold only some, with and without other values.
template <class Real>
void missing_among_large_numbers() {
    Rng rng(2);
    for (const double first : {1e9 - 128, -1e9, 2147483520.0, 1e15}) {
        for (const std::size_t n : {1, 40, 300}) {
            std::vector<Real> values;
            for (std::size_t i = 0; i < n; ++i) {
                values.push_back(static_cast<Real>(first + static_cast<double>(i)));
            }
            check_ranks(with_missing(values, 3, rng));
            values.push_back(Real{-0.0});
            values.push_back(Real{0.25});
            check_ranks(with_missing(values, 3, rng));
        }
    }
}

TEST(columns_missing_values_among_large_integers) {
    missing_among_large_numbers<float>();
    missing_among_large_numbers<double>();
}

// The only missing value at any position of a vector, or after the last whole one.
TEST(columns_find_a_single_missing_value) {
    for (const std::size_t n : {1, 4, 7, 9}) {
        for (std::size_t at = 0; at < n; ++at) {
            for (const double step : {1.0, 0.3}) {
                std::vector<double> values(n);
                for (std::size_t i = 0; i < n; ++i) values[i] = step * static_cast<double>(i);
                values[at] = std::nan("");
                check_ranks(values);
                check_ranks(std::vector<float>(values.begin(), values.end()));
            }
        }
    }
}

// Codes and values by row, the flag of each column, and nothing else than in the plain encoding.
TEST(columns_of_categories_are_encoded_like_numbers) {
    const std::vector<double> x = [] {
        std::vector<double> values = mixed_matrix<double>(400, 6);
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (k % 6 < 3) values[k] = std::floor(std::abs(values[k]) * 40) * 131;
            if (k % 11 == 0) values[k] = std::nan("");
        }
        values[0] = 65534;
        values[6] = -0.0;
        return values;
    }();
    const Matrix<double> matrix{x.data(), 400, 6, 6, 1};
    const std::vector<Row> order = first_rows(400);
    const std::vector<FeatureId> categorical{2, 0};
    const Columns plain = encode(matrix, {order, 9}, {}, 1, Poll{});
    for (const unsigned n_threads : {1u, 3u}) {
        const Columns columns = encode(matrix, {order, 9}, categorical, n_threads, Poll{});
        CHECK(equal_codes(columns, plain));
        for (std::size_t j = 0; j < 6; ++j) {
            CHECK(columns.column[j].categorical() == (j == 0 || j == 2));
            CHECK(!plain.column[j].categorical());
        }
    }
}

template <class Real>
void refuse_other_values() {
    const std::vector<FeatureId> second{1};
    std::vector<Real> x{7, 0, -3, 5, Real{0.5}, 65534, 9, std::numeric_limits<Real>::quiet_NaN()};
    const Matrix<Real> matrix{x.data(), 4, 2, 2, 1};
    const std::vector<Row> order = first_rows(4);
    const auto encode_all = [&] { return encode(matrix, {order, 1}, second, 1, Poll{}); };
    CHECK(encode_all().column[1].size() == 3);
    using Limits = std::numeric_limits<Real>;
    for (const Real wrong :
         {Real{-1}, Real{0.5}, Real{65534.5}, Real{65535}, Real{65536}, Real{1e10}, Real{-1e10},
          Limits::max(), Limits::denorm_min(), Limits::infinity(), -Limits::infinity()}) {
        x[5] = wrong;
        CHECK_THROWS(std::invalid_argument, encode_all());
    }
    // Rows that are not used do not matter.
    const std::vector<Row> others{0, 1, 3};
    CHECK(encode(matrix, {others, 1}, second, 1, Poll{}).column[1].size() == 2);
}

TEST(columns_refuse_values_that_are_not_categories) {
    refuse_other_values<float>();
    refuse_other_values<double>();
}

TEST(columns_refuse_categorical_features_that_do_not_exist) {
    const std::vector<double> x{0, 1, 2, 3};
    const std::vector<FeatureId> third{2};
    CHECK_THROWS(std::out_of_range, encode(Matrix<double>{x.data(), 2, 2, 2, 1}, {first_rows(2), 1},
                                           third, 1, Poll{}));
}

// A sparse matrix with some zeros stored, of both signs.
template <class Real>
Sparse<Real> sparse_with_zeros(const Matrix<Real>& x, Rng& rng) {
    Sparse<Real> sparse(Matrix<Real>{x.data, 0, x.cols, 0, 1});
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.cols; ++j) {
            if (x.at(i, j) == 0 && rng.below(4) > 0) continue;
            const Real zero = rng.below(2) ? Real{0} : Real{-0.0};
            sparse.data.push_back(x.at(i, j) == 0 ? zero : x.at(i, j));
            sparse.column.push_back(static_cast<std::int32_t>(j));
        }
        sparse.begin.push_back(static_cast<std::int64_t>(sparse.data.size()));
    }
    return sparse;
}

// More columns than are copied at a time; some are empty, full or have missing values.
template <class Real>
void sparse_equals_dense() {
    constexpr std::size_t kRows = 400, kCols = 83;
    Rng rng(3);
    std::vector<Real> x(kRows * kCols);
    for (std::size_t k = 0; k < x.size(); ++k) {
        const std::size_t j = k % kCols;
        if (j == 5 || rng.below(100) >= j + j / 70 * 100) continue;
        x[k] = static_cast<Real>(j % 2 ? rng.uniform() - 0.5 : std::floor(rng.uniform() * 300));
        if (rng.below(10) == 0) x[k] = std::numeric_limits<Real>::quiet_NaN();
    }
    const Matrix<Real> dense{x.data(), kRows, kCols, kCols, 1};
    const Sparse<Real> stored(dense);
    const Sparse<Real> zeros = sparse_with_zeros(dense, rng);
    CHECK(zeros.data.size() > stored.data.size() && stored.data.size() < x.size());
    std::vector<Row> order = first_rows(kRows);
    shuffle(std::span(order), rng);
    order.resize(kRows - 90);
    order[7] = order[8];  // rows may be repeated
    const std::vector<FeatureId> categorical{0, 4, 82};
    const Columns expected = encode(dense, {order, 5}, categorical, 1, Poll{});
    for (const unsigned n_threads : {1u, 2u, 5u}) {
        for (const Sparse<Real>* sparse : {&stored, &zeros}) {
            const Columns columns =
                encode(sparse->matrix(), {order, 5}, categorical, n_threads, Poll{});
            CHECK(equal_codes(columns, expected));
            CHECK(columns.column[82].categorical() && !columns.column[81].categorical());
        }
    }
    // Values that are not the number of a category.
    const std::vector<FeatureId> fractions{81};
    CHECK_THROWS(std::invalid_argument, encode(stored.matrix(), {order, 5}, fractions, 2, Poll{}));
}

TEST(columns_of_sparse_matrices_equal_those_of_dense_ones) {
    sparse_equals_dense<float>();
    sparse_equals_dense<double>();
}

TEST(columns_of_a_sparse_matrix_without_values_are_constant) {
    const Sparse<double> empty(Matrix<double>{nullptr, 0, 40, 0, 1});
    const std::vector<std::int64_t> begin(4);
    const SparseMatrix<double> x{nullptr, nullptr, begin.data(), 3, empty.cols};
    const Columns columns = encode(x, {first_rows(3), 1}, {}, 1, Poll{});
    for (const Column& column : columns.column) {
        CHECK(!column.varies() && column.size() == 1 && column.value(0) == 0);
    }
}

}  // namespace
}  // namespace puforest::testing
