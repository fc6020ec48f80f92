#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "column_checks.hpp"
#include "helpers.hpp"
#include "puforest/columns.hpp"

namespace puforest::testing {
namespace {

template <class Real>
void codes_are_ranks() {
    Rng rng(1);
    for (const std::size_t distinct : {1, 2, 3, 255, 256, 257, 1000, 65535, 65536, 65537, 70000}) {
        std::vector<Real> whole;
        std::vector<Real> fractional;
        for (std::size_t i = 0; i < distinct; ++i) {
            const auto k = static_cast<Real>(i) - static_cast<Real>(distinct / 2);
            whole.push_back(k);
            fractional.push_back(k * Real{1.1} + k * std::abs(k) * Real{1e-3});
        }
        check_ranks(repeat_and_shuffle(whole, rng));
        check_ranks(repeat_and_shuffle(fractional, rng));
    }
}

TEST(columns_codes_are_ranks) {
    codes_are_ranks<float>();
    codes_are_ranks<double>();
}

template <class Real>
void codes_of_extreme_values_are_ranks() {
    using Limits = std::numeric_limits<Real>;
    const Real tiny = Limits::denorm_min();
    const Real small = Limits::min();
    const Real after_one = std::nextafter(Real{1}, Real{2});
    const std::vector<Real> extremes{-Limits::max(), -1,   -small,   -small / 2, -tiny, Real{-0.0},
                                     Real{0.0},      tiny, 2 * tiny, small,      1,     after_one,
                                     Limits::max()};
    Rng rng(2);
    check_ranks(repeat_and_shuffle(extremes, rng));
    // The same among enough others to need two bytes.
    std::vector<Real> many = extremes;
    for (int i = 0; i < 1000; ++i) many.push_back(static_cast<Real>(i - 500) * Real{0.37});
    check_ranks(repeat_and_shuffle(many, rng));
}

TEST(columns_codes_of_extreme_values_are_ranks) {
    codes_of_extreme_values_are_ranks<float>();
    codes_of_extreme_values_are_ranks<double>();
}

// Integers far from zero, far apart, and mixed with one non-integer.
template <class Real>
void codes_of_whole_numbers_are_ranks() {
    Rng rng(5);
    for (const double first : {0.0, -300.0, 70'000.0, -16'000'000.0, 8e8, 3e9, -1e15}) {
        for (const double step : {1.0, 3.0, 200.0, 1000.0, 1e6}) {
            for (const std::size_t n : {3, 40, 300, 3000}) {
                std::vector<Real> values;
                for (std::size_t i = 0; i < n; ++i) {
                    values.push_back(static_cast<Real>(first + step * static_cast<double>(i)));
                }
                check_ranks(repeat_and_shuffle(values, rng));
                values[n / 2] += Real{0.5};
                check_ranks(repeat_and_shuffle(values, rng));
            }
        }
    }
}

TEST(columns_codes_of_integers_are_ranks) {
    codes_of_whole_numbers_are_ranks<float>();
    codes_of_whole_numbers_are_ranks<double>();
}

TEST(columns_minus_zero_is_zero) {
    for (const std::size_t n : {4, 1000}) {
        std::vector<double> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i / 2);
        values[0] = -0.0;
        const Columns columns = encode_one(values);
        const Column& column = columns.column[0];
        const std::vector<Code> codes = codes_of(column, n);
        CHECK(codes[0] == 0 && codes[1] == 0 && codes[2] == 1);
        CHECK(column.value(0) == 0);
    }
}

// The same matrix with any strides.
template <class Real>
std::vector<Real> lay_out(const Matrix<Real>& x, std::ptrdiff_t row_stride,
                          std::ptrdiff_t col_stride, std::ptrdiff_t start, std::size_t size) {
    std::vector<Real> memory(size, Real{-99});
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.cols; ++j) {
            memory[static_cast<std::size_t>(start + static_cast<std::ptrdiff_t>(i) * row_stride +
                                            static_cast<std::ptrdiff_t>(j) * col_stride)] =
                x.at(i, j);
        }
    }
    return memory;
}

template <class Real>
void layout_does_not_matter() {
    constexpr std::size_t kRows = 700, kCols = 37;
    const std::vector<Real> memory = mixed_matrix<Real>(kRows, kCols);
    const Matrix<Real> x{memory.data(), kRows, kCols, kCols, 1};
    Rng rng(4);
    std::vector<Row> order = first_rows(kRows);
    shuffle(std::span(order), rng);
    order.resize(kRows - 90);

    const Columns expected = encode(x, {order, 5}, {}, 1, Poll{});
    CHECK(expected.column.size() == kCols && expected.n_labeled == 5);
    CHECK(expected.n_rows == order.size());
    for (std::size_t j = 0; j < kCols; ++j) {
        const std::vector<Code> codes = codes_of(expected.column[j], order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            CHECK(expected.column[j].value(codes[i]) == x.at(order[i], j));
            if (expected.column[j].varies()) CHECK(code_by_row(expected, i, j) == codes[i]);
        }
    }

    struct Layout {
        std::ptrdiff_t row_stride, col_stride, start;
    };
    constexpr std::ptrdiff_t kR = kRows, kC = kCols;
    for (const Layout& l :
         {Layout{1, kR, 0}, Layout{1, kR + 3, 2}, Layout{2, 2 * kR, 0}, Layout{3 * kC + 5, 3, 1},
          Layout{-kC, 1, (kR - 1) * kC}, Layout{kC, -1, kC - 1}, Layout{-1, -kR, kR * kC - 1}}) {
        const auto moved = lay_out(x, l.row_stride, l.col_stride, l.start, 4 * kRows * kCols);
        const Matrix<Real> view{moved.data() + l.start, kRows, kCols, l.row_stride, l.col_stride};
        CHECK(equal_codes(encode(view, {order, 5}, {}, 1, Poll{}), expected));
    }
    for (const unsigned n_threads : {0u, 2u, 3u, 8u}) {
        CHECK(equal_codes(encode(x, {order, 5}, {}, n_threads, Poll{}), expected));
    }
}

TEST(columns_layout_and_threads_do_not_matter) {
    layout_does_not_matter<float>();
    layout_does_not_matter<double>();
}

// Arbitrary values, and consecutive integers, which have no table.
TEST(columns_code_at_most_is_the_linear_scan) {
    std::vector<double> uneven;
    for (int i = 0; i < 40; ++i) uneven.push_back(i * i * 0.5 - 30);
    std::vector<std::vector<double>> all{uneven};
    for (const double first : {-7.0, 0.0, 123456789.0, -999999990.0}) {
        all.emplace_back();
        for (int i = 0; i < 40; ++i) all.back().push_back(first + i);
    }
    for (const std::vector<double>& values : all) {
        const Columns columns = encode_one(values);
        const Column& column = columns.column[0];
        for (Code low = 0; low < column.size(); ++low) {
            for (Code high = low; high < column.size(); ++high) {
                for (Code k = low; k < column.size(); ++k) {
                    const double v = column.value(k);
                    for (const double t : {v, v + 0.25, std::nextafter(v + 1, v)}) {
                        Code last = low;
                        for (Code code = low; code <= high && column.value(code) <= t; ++code) {
                            last = code;
                        }
                        CHECK(column.code_at_most(t, low, high) == last);
                    }
                }
            }
        }
    }
}

TEST(columns_of_floats_and_doubles_grow_the_same_trees) {
    const Data<> data = random_data(13, {40, 80, 4, 50});
    const Data<float> single{std::vector<float>(data.x.begin(), data.x.end()), data.cols,
                             data.order, data.n_labeled};
    CHECK(same(fit(single, default_params(data)), fit(data, default_params(data))));
}

TEST(columns_a_scaled_feature_scales_its_thresholds) {
    Data<> data = random_data(14);
    const auto expected = fit(data, default_params(data));
    for (std::size_t k = 0; k < data.x.size(); k += data.cols) data.x[k] *= 1024;
    auto trees = fit(data, default_params(data));
    for (Tree& tree : trees) {
        for (NodeId i = 0; i < tree.size(); ++i) {
            if (tree.feature[i] == 0) tree.threshold[i] /= 1024;
        }
    }
    CHECK(same(trees, expected));
}

}  // namespace
}  // namespace puforest::testing
