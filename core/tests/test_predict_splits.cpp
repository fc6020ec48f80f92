#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/category_sets.hpp"
#include "puforest/predict.hpp"
#include "puforest/row_blocks.hpp"

namespace puforest::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A list of categories in ascending order: few neighbors, many, or some of all.
std::vector<CategoryId> random_list(Rng& rng) {
    static constexpr std::array<std::size_t, 4> kRanges{3, 40, 3000, 65536};
    const std::size_t range = kRanges[rng.below(kRanges.size())];
    const std::size_t first = rng.below(65536 - range + 1);
    const std::size_t most = rng.below(2) ? 8 : 3000;
    std::set<CategoryId> list;
    for (std::size_t n = 1 + rng.below(most); n > 0; --n) {
        list.insert(static_cast<CategoryId>(first + rng.below(range)));
    }
    return {list.begin(), list.end()};
}

TEST(category_sets_contain_the_categories_listed) {
    Rng rng(3);
    CategorySets sets;
    std::vector<std::vector<CategoryId>> lists{{0}, {65535}, {0, 65535}, {15, 16}};
    for (int i = 0; i < 40; ++i) lists.push_back(random_list(rng));
    std::vector<CategorySets::SetId> ids;
    std::size_t most_words = 0;
    for (const auto& list : lists) {
        ids.push_back(sets.add(list));
        most_words += 3 + 4 * list.size();
    }
    CHECK(sets.bytes() <= most_words * sizeof(CategoryId));
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const std::vector<CategoryId>& list = lists[i];
        const auto check = [&](auto x) {
            const bool listed = std::find(list.begin(), list.end(), x) != list.end();
            CHECK(sets.contains(ids[i], x) == listed);
        };
        for (const double x : {kNaN, -1.0, -0.5, -0.0, 0.5, 65534.5, 65535.5, 65536.0, 1e10, -1e10,
                               1e300, -1e300, 4294967296.0, 4294967295.0}) {
            check(x);
            check(static_cast<float>(x));
        }
        for (int k = 0; k < 30; ++k) {
            const CategoryId near = list[rng.below(list.size())];
            for (const double x : {near - 1.0, near - 0.25, near + 0.0, near + 0.25, near + 1.0}) {
                check(x);
                check(static_cast<float>(x));
            }
        }
    }
}

TEST(row_blocks_find_missing_values) {
    const auto check = []<class Real>(Real nan) {
        constexpr Real kMost = std::numeric_limits<Real>::max();
        for (std::size_t n = 0; n < 70; ++n) {
            std::vector<Real> values(n, kMost);  // their sums are infinite
            CHECK(!maybe_nan(values.data(), n));
            for (Real& value : values) {
                value = nan;
                CHECK(maybe_nan(values.data(), n));
                value = -1;
            }
        }
    };
    check(std::nanf(""));
    check(std::nan(""));
}

enum class Kind { Plain, Missing, Categorical };

// Even features are numeric, odd ones categorical if the kind of the forest allows it.
Tree random_tree(Rng& rng, Kind kind, std::size_t n_features, std::size_t n_splits) {
    Tree tree;
    const std::size_t n = 2 * n_splits + 1;
    for_each_node_field([&]<class T>(const NodeField<T>& field, auto get) {
        get(tree).assign(n, field.in_leaves.value_or(T{}));
    });
    std::vector<std::vector<CategoryId>> lists(n);
    std::vector<NodeId> leaves{0};
    for (std::size_t j = 0; j < n_splits; ++j) {
        std::swap(leaves[rng.below(leaves.size())], leaves.back());
        const NodeId i = leaves.back();
        leaves.pop_back();
        const auto feature = static_cast<std::int32_t>(rng.below(n_features));
        tree.feature[i] = feature;
        tree.left[i] = static_cast<NodeId>(2 * j + 1);
        tree.missing_left[i] = kind != Kind::Plain && rng.below(2);
        if (kind == Kind::Categorical && feature % 2 == 1) {
            lists[i] = random_list(rng);
            tree.n_categories[i] = static_cast<std::int32_t>(lists[i].size());
        } else {
            tree.threshold[i] =
                rng.below(5) ? rng.uniform() * 6 - 3 : std::numeric_limits<double>::infinity();
        }
        leaves.insert(leaves.end(), {tree.left[i], tree.left[i] + 1});
    }
    for (std::size_t i = 0; i < n; ++i) {
        tree.w_u[i] = 1;
        tree.w_p[i] = rng.uniform();
        tree.categories.insert(tree.categories.end(), lists[i].begin(), lists[i].end());
    }
    return tree;
}

// Half of the values are 0. From row `first_missing` on, some are NaN.
template <class Real>
std::vector<Real> random_rows(Rng& rng, std::size_t rows, std::size_t cols,
                              std::size_t first_missing) {
    static constexpr std::array<double, 6> kOdd{-1, 0.5, 65534.5, 65536, 1e30, -1e30};
    std::vector<Real> x(rows * cols);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            Real& value = x[i * cols + j];
            if (rng.below(2)) continue;
            if (i >= first_missing && rng.below(4) == 0) {
                value = static_cast<Real>(kNaN);
            } else if (j % 2 == 0) {
                value = static_cast<Real>(rng.uniform() * 6 - 3);
            } else {
                value = static_cast<Real>(rng.below(8) ? rng.below(rng.below(2) ? 45 : 65536)
                                                       : kOdd[rng.below(kOdd.size())]);
            }
        }
    }
    return x;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double v, double w) {
        return v == w || (std::isnan(v) && std::isnan(w));
    });
}

// All predictions for rows stored in any way are those of a naive walk.
template <class Real>
void check_predictions(std::span<const Tree> trees, const Data<Real>& data) {
    const Matrix<Real> x = data.matrix();
    const std::size_t n_trees = trees.size();
    TrainParams params;
    params.sampling = {false, false, (data.n_labeled + 1) / 2, (data.n_unlabeled() + 1) / 2};
    std::vector<std::int32_t> leaves(x.rows * n_trees);
    std::vector<double> mean(x.rows);
    std::vector<double> held_out(x.rows);
    std::vector<double> count(x.rows);
    for (std::size_t t = 0; t < n_trees; ++t) {
        const Sample sample = draw_sample(params, t, data.fit_rows());
        std::vector<bool> seen(x.rows);
        for (const Row k : sample.rows) seen[data.order[k]] = true;
        for (std::size_t i = 0; i < x.rows; ++i) {
            const NodeId leaf = walk(trees[t], x, i);
            const double value = Forest::posterior(trees[t], leaf);
            leaves[i * n_trees + t] = leaf;
            mean[i] += value;
            if (!seen[i]) held_out[i] += value;
            count[i] += !seen[i];
        }
    }
    for (std::size_t i = 0; i < x.rows; ++i) {
        mean[i] /= static_cast<double>(n_trees);
        held_out[i] = count[i] > 0 ? held_out[i] / count[i] : kNaN;
    }

    std::vector<Real> by_columns(x.rows * x.cols);
    std::vector<Real> spread(x.rows * x.cols * 2);
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.cols; ++j) {
            by_columns[j * x.rows + i] = spread[(i * x.cols + j) * 2] = x.at(i, j);
        }
    }
    const Sparse<Real> sparse(x);
    const auto rows = static_cast<std::ptrdiff_t>(x.rows);
    const auto cols = static_cast<std::ptrdiff_t>(x.cols);
    const auto n_features = static_cast<std::uint32_t>(x.cols);
    const Predictor<Real> predictor = Forest(trees).predictor<Real>(n_features);
    for (const AnyMatrix<Real>& matrix :
         {AnyMatrix<Real>(x),
          {Matrix<Real>{by_columns.data(), x.rows, x.cols, 1, rows}},
          {Matrix<Real>{spread.data(), x.rows, x.cols, cols * 2, 2}},
          {sparse.matrix()}}) {
        for (const unsigned n_threads : {1u, 3u}) {
            params.n_threads = n_threads;
            std::vector<std::int32_t> of_leaves(leaves.size(), -7);
            std::vector<double> of_mean(x.rows, -7);
            std::vector<double> of_held_out(x.rows, -7);
            predictor.leaves(matrix, of_leaves.data(), n_threads, Poll{});
            predictor.mean(matrix, of_mean.data(), n_threads, Poll{});
            predictor.mean_held_out(matrix, data.fit_rows(), params, of_held_out.data(), Poll{});
            CHECK(of_leaves == leaves);
            CHECK(of_mean == mean);
            CHECK(same_bits(of_held_out, held_out));
        }
    }
}

// Predictions at points are those for rows with the values of the points.
template <class Real>
void check_points(Rng& rng, std::span<const Tree> trees, const Data<Real>& data,
                  std::vector<FeatureId> varied, std::size_t n_points) {
    const Matrix<Real> x = data.matrix();
    const auto values = random_rows<Real>(rng, n_points, x.cols, 0);
    std::vector<Real> at;
    for (std::size_t p = 0; p < n_points; ++p) {
        for (const FeatureId j : varied) at.push_back(values[p * x.cols + j]);
    }
    const Matrix<Real> points{at.data(), n_points, varied.size(),
                              static_cast<std::ptrdiff_t>(varied.size()), 1};
    const Predictor<Real> predictor =
        Forest(trees).predictor<Real>(static_cast<std::uint32_t>(x.cols));
    std::vector<double> expected(x.rows * n_points);
    for (std::size_t p = 0; p < n_points; ++p) {
        Data<Real> changed = data;
        for (std::size_t i = 0; i < x.rows; ++i) {
            for (std::size_t v = 0; v < varied.size(); ++v) {
                changed.x[i * x.cols + varied[v]] = points.at(p, v);
            }
        }
        std::vector<double> mean(x.rows);
        predictor.mean(changed.matrix(), mean.data(), 1, Poll{});
        for (std::size_t i = 0; i < x.rows; ++i) expected[i * n_points + p] = mean[i];
    }
    const Sparse<Real> sparse(x);
    for (const AnyMatrix<Real>& matrix : {AnyMatrix<Real>(x), {sparse.matrix()}}) {
        for (const unsigned n_threads : {1u, 3u}) {
            std::vector<double> found(x.rows * n_points, -7);
            predictor.mean_at(matrix, varied, points, found.data(), n_threads, Poll{});
            CHECK(found == expected);
        }
    }
}

template <class Real>
Data<Real> random_table(Rng& rng, std::size_t rows, std::size_t cols, std::size_t first_missing) {
    Data<Real> data{random_rows<Real>(rng, rows, cols, first_missing), cols, std::vector<Row>(rows),
                    static_cast<std::uint32_t>((rows + 2) / 3)};
    std::iota(data.order.begin(), data.order.end(), Row{0});
    shuffle(std::span(data.order), rng);
    return data;
}

template <class Real>
void check_random_forests(std::uint64_t seed) {
    Rng rng(seed);
    for (const Kind kind : {Kind::Plain, Kind::Missing, Kind::Categorical}) {
        std::vector<Tree> trees;
        for (std::size_t t = 0; t < 12; ++t) {
            const std::size_t n_splits = t == 3 ? 0 : 1 + rng.below(60);
            trees.push_back(random_tree(rng, kind, 6, n_splits));
        }
        for (const std::size_t rows : {2, 90, 2500}) {
            // No missing values, missing values in the last block only, and in all.
            for (const std::size_t first_missing : {rows, rows - 2, std::size_t{0}}) {
                check_predictions(trees, random_table<Real>(rng, rows, 6, first_missing));
            }
        }
    }
}

template <class Real>
void check_points_of_random_forests(std::uint64_t seed) {
    Rng rng(seed);
    for (const Kind kind : {Kind::Plain, Kind::Missing, Kind::Categorical}) {
        std::vector<Tree> trees;
        for (std::size_t t = 0; t < 6; ++t) trees.push_back(random_tree(rng, kind, 4, t * 12));
        for (const std::size_t rows : {1, 300}) {
            const Data<Real> data = random_table<Real>(rng, rows, 4, rows / 2);
            check_points(rng, trees, data, {0}, 64);
            check_points(rng, trees, data, {1}, 65);
            check_points(rng, trees, data, {2, 1}, 7);
            check_points(rng, trees, data, {0, 1, 2, 3}, 130);
        }
    }
}

TEST(predict_points_on_floats) { check_points_of_random_forests<float>(7); }
TEST(predict_points_on_doubles) { check_points_of_random_forests<double>(8); }

TEST(predict_points_needs_features_that_exist) {
    Rng rng(9);
    const std::vector<Tree> trees{random_tree(rng, Kind::Plain, 4, 3)};
    const Predictor<double> predictor = Forest(trees).predictor<double>(4);
    const std::vector<double> x(4);
    std::vector<double> out(1);
    const Matrix<double> row{x.data(), 1, 4, 4, 1};
    const auto at = [&](std::vector<FeatureId> varied, std::size_t cols) {
        predictor.mean_at(AnyMatrix<double>(row), varied, {x.data(), 1, cols, 4, 1}, out.data(), 1,
                          Poll{});
    };
    at({3}, 1);
    CHECK_THROWS(std::invalid_argument, at({4}, 1));
    CHECK_THROWS(std::invalid_argument, at({1}, 2));
}

TEST(predict_random_forests_on_floats) { check_random_forests<float>(1); }
TEST(predict_random_forests_on_doubles) { check_random_forests<double>(2); }

// Rows so wide that blocks of sparse rows have few rows or one, and that dense ones are not
// searched for missing values.
TEST(predict_wide_rows) {
    Rng rng(5);
    for (const std::size_t cols : {9000, 70000}) {
        for (const Kind kind : {Kind::Plain, Kind::Missing, Kind::Categorical}) {
            std::vector<Tree> trees;
            for (std::size_t t = 0; t < 5; ++t) trees.push_back(random_tree(rng, kind, cols, 20));
            check_predictions(trees, random_table<float>(rng, 17, cols, 9));
        }
    }
}

// Infinite sums of finite values may cancel, which looks like a missing value.
TEST(predict_huge_values) {
    Rng rng(6);
    const std::vector<Tree> trees{random_tree(rng, Kind::Missing, 64, 30)};
    Data<float> data = random_table<float>(rng, 50, 64, 50);
    constexpr float kMost = std::numeric_limits<float>::max();
    for (std::size_t k = 0; k < data.x.size(); ++k) data.x[k] = k % 2 ? kMost : -kMost;
    check_predictions(trees, data);
}

}  // namespace
}  // namespace puforest::testing
