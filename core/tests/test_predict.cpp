#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/predict.hpp"

namespace puforest::testing {
namespace {

// Data and a forest trained on it; `n_rows` determines whether predictions use threads.
struct Grown {
    Data<> data;
    TrainParams params;
    std::vector<Tree> trees;
    Predictor<double> predictor;

    Grown(std::uint32_t n_rows, const Sampling& sampling)
        : data(random_data(1, {n_rows / 3, n_rows - n_rows / 3, 5, 30})),
          params(make_params(data, sampling)),
          trees(fit(data, params)),
          predictor(Forest(trees).predictor(5)) {}

    static TrainParams make_params(const Data<>& data, const Sampling& sampling) {
        TrainParams params = default_params(data);
        params.sampling = sampling;
        params.n_trees = 15;
        return params;
    }
};

const Grown& small() {
    static const Grown grown(300, {true, false, 60, 100});
    return grown;
}

// Several blocks, but too little work for threads.
const Grown& medium() {
    static const Grown grown(1200, {true, true, 0, 0});
    return grown;
}

const Grown& large() {
    static const Grown grown(3001, {false, false, 500, 1200});
    return grown;
}

TEST(predict_mean_matches_a_naive_walk) {
    for (const Grown* g : {&small(), &medium(), &large()}) {
        const Matrix<double> x = g->data.matrix();
        std::vector<double> expected(x.rows);
        for (std::size_t i = 0; i < x.rows; ++i) {
            for (const Tree& tree : g->trees)
                expected[i] += Forest::posterior(tree, walk(tree, x, i));
            expected[i] /= static_cast<double>(g->trees.size());
        }
        for (const unsigned n_threads : {0u, 1u, 2u, 3u, 8u}) {
            std::vector<double> mean(x.rows, -1);
            g->predictor.mean(x, mean.data(), n_threads, Poll{});
            CHECK(mean == expected);
        }
    }
}

TEST(predict_leaves_match_a_naive_walk) {
    for (const Grown* g : {&small(), &medium(), &large()}) {
        const Matrix<double> x = g->data.matrix();
        const std::size_t n_trees = g->trees.size();
        for (const unsigned n_threads : {1u, 4u}) {
            std::vector<std::int32_t> leaves(x.rows * n_trees, -7);
            g->predictor.leaves(x, leaves.data(), n_threads, Poll{});
            for (std::size_t i = 0; i < x.rows; ++i) {
                for (std::size_t t = 0; t < n_trees; ++t) {
                    CHECK(leaves[i * n_trees + t] == walk(g->trees[t], x, i));
                }
            }
        }
    }
}

// Values that are exact as float, read as either type and with any strides.
TEST(predict_reads_floats_and_strides) {
    const Grown& g = small();
    const Matrix<double> x = g.data.matrix();
    std::vector<double> expected(x.rows);
    g.predictor.mean(x, expected.data(), 1, Poll{});

    std::vector<float> column_major(x.rows * x.cols);
    std::vector<double> spread(x.rows * x.cols * 6, 1e9);
    std::vector<double> backwards(g.data.x.rbegin(), g.data.x.rend());
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.cols; ++j) {
            column_major[j * x.rows + i] = static_cast<float>(x.at(i, j));
            spread[i * x.cols * 6 + j * 3] = x.at(i, j);
        }
    }
    const auto rows = static_cast<std::ptrdiff_t>(x.rows);
    const auto cols = static_cast<std::ptrdiff_t>(x.cols);
    const auto mean_of = [&]<class Real>(const Matrix<Real>& view) {
        std::vector<double> mean(x.rows);
        Forest(g.trees).predictor<Real>(5).mean(view, mean.data(), 1, Poll{});
        return mean;
    };
    CHECK(mean_of(Matrix<float>{column_major.data(), x.rows, x.cols, 1, rows}) == expected);
    CHECK(mean_of(Matrix<double>{spread.data(), x.rows, x.cols, cols * 6, 3}) == expected);
    CHECK(mean_of(Matrix<double>{&backwards.back(), x.rows, x.cols, -cols, -1}) == expected);
}

// A forest of numeric splits that send missing values right.
Forest make_forest(std::vector<std::int64_t> offset, std::vector<std::int32_t> feature,
                   std::vector<double> threshold, std::vector<NodeId> left,
                   std::vector<double> value) {
    Forest forest{{}};
    forest.missing_left.resize(feature.size());
    forest.n_categories.resize(feature.size());
    forest.offset = std::move(offset);
    forest.feature = std::move(feature);
    forest.threshold = std::move(threshold);
    forest.left = std::move(left);
    forest.value = std::move(value);
    return forest;
}

// One split on x0 <= 0.1: the float 0.1f is greater than the double 0.1, and NaN goes right.
TEST(predict_compares_as_doubles) {
    const Forest forest =
        make_forest({0, 3}, {0, -1, -1}, {0.1, 0, 0}, {1, -1, -1}, {0.5, 0.25, 0.75});
    const Predictor<double> predictor = forest.predictor(1);
    CHECK(predictor.n_trees() == 1 && predictor.n_features() == 1);
    const std::vector<double> doubles{0.1, std::nextafter(0.1, 1.0), -1e300, std::nan("")};
    const std::vector<float> floats{0.1f, std::nextafter(0.1f, 0.0f)};
    std::vector<double> mean(4);
    predictor.mean(Matrix<double>{doubles.data(), 4, 1, 1, 1}, mean.data(), 1, Poll{});
    CHECK(mean == std::vector{0.25, 0.75, 0.25, 0.75});
    forest.predictor<float>(1).mean(Matrix<float>{floats.data(), 2, 1, 1, 1}, mean.data(), 1,
                                    Poll{});
    CHECK(mean[0] == 0.75 && mean[1] == 0.25);
    mean = {-1, -1, -1, -1};
    predictor.mean(Matrix<double>{doubles.data(), 0, 1, 1, 1}, mean.data(), 2, Poll{});
    CHECK(mean[0] == -1);
}

// Two trees: a split over two leaves, and two splits over three.
Forest two_trees() {
    return make_forest({0, 3, 8}, {0, -1, -1, 1, -1, 0, -1, -1}, {0.5, 0, 0, 0.5, 0, 0.5, 0, 0},
                       {1, -1, -1, 1, -1, 3, -1, -1}, {0, 0, 1, 0, 0, 0, 1, 0});
}

void check_rejected(const std::function<void(Forest&)>& spoil) {
    Forest forest = two_trees();
    spoil(forest);
    CHECK_THROWS(std::invalid_argument, forest.predictor(2));
}

// A float compares with a threshold like the double of the same value, even at the limits of the
// range and beyond.
TEST(predict_floats_compare_as_doubles) {
    constexpr float kMost = std::numeric_limits<float>::max();
    constexpr float kTiny = std::numeric_limits<float>::denorm_min();
    const std::vector<float> values{-kMost, -1, -kTiny, 0, kTiny, 0.1f, 1, 3e30f, kMost};
    std::vector<double> thresholds{
        -1e300, 1e300, 0.1, -0.1, 1e-60, -1e-60, std::numeric_limits<double>::infinity()};
    for (const float v : values) {
        const double exact = v;
        thresholds.insert(thresholds.end(),
                          {exact, std::nextafter(exact, -1e300), std::nextafter(exact, 1e300)});
    }
    const std::vector<double> doubles(values.begin(), values.end());
    const std::size_t n = values.size();
    for (const double t : thresholds) {
        const Forest forest = make_forest({0, 3}, {0, -1, -1}, {t, 0, 0}, {1, -1, -1}, {0.5, 0, 1});
        std::vector<double> of_floats(n);
        std::vector<double> of_doubles(n);
        forest.predictor<float>(1).mean(Matrix<float>{values.data(), n, 1, 1, 1}, of_floats.data(),
                                        1, Poll{});
        forest.predictor(1).mean(Matrix<double>{doubles.data(), n, 1, 1, 1}, of_doubles.data(), 1,
                                 Poll{});
        CHECK(of_floats == of_doubles);
        for (std::size_t i = 0; i < n; ++i) CHECK(of_doubles[i] == (values[i] <= t ? 0 : 1));
    }
}

// Too many features for feature and distance to fit into 32 bits, and to look for missing values.
TEST(predict_with_huge_rows) {
    const std::uint32_t n_features = (1u << 31) - 7;
    Forest forest = make_forest({0, 5}, {static_cast<std::int32_t>(n_features - 1), -1, 3, -1, -1},
                                {2, 0, 0.5, 0, 0}, {1, -1, 3, -1, -1}, {0.5, 0.1, 0.5, 0.2, 0.3});
    const std::vector<float> x{2, 3, 0, std::nanf("")};
    const auto mean = [&] {
        std::vector<double> result(4);
        // A column stride of zero: all features have the same value.
        forest.predictor<float>(n_features)
            .mean(Matrix<float>{x.data(), 4, n_features, 1, 0}, result.data(), 1, Poll{});
        return result;
    };
    CHECK(mean() == std::vector{0.1, 0.3, 0.1, 0.3});
    forest.missing_left[0] = 1;
    CHECK(mean() == std::vector{0.1, 0.3, 0.1, 0.1});
    forest.missing_left = {0, 0, 1, 0, 0};
    CHECK(mean() == std::vector{0.1, 0.3, 0.1, 0.2});
    forest.n_categories[2] = 1;
    forest.categories = {3};
    CHECK(mean() == std::vector{0.1, 0.3, 0.1, 0.2});
    forest.categories = {2};
    CHECK(mean() == std::vector{0.1, 0.2, 0.1, 0.2});
}

TEST(predict_rejects_invalid_arrays) {
    using Offsets = std::vector<std::int64_t>;
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    constexpr NodeId kMost = std::numeric_limits<NodeId>::max();
    CHECK(two_trees().predictor(2).n_trees() == 2);
    CHECK_THROWS(std::invalid_argument, two_trees().predictor(1));
    CHECK_THROWS(std::invalid_argument, two_trees().predictor(0));

    for (const Offsets& offset :
         {Offsets{},      {0},           {8},
          {0, 8, 8},      {0, 0, 8},     {0, 3},
          {0, 3, 7},      {0, 3, 9},     {0, 3, std::numeric_limits<std::int64_t>::min(), 8},
          {1, 3, 8},      {0, 9, 8},     {0, 5, 3, 8},
          {0, -1, 8},     {0, kHuge, 8}, {0, 3, kHuge},
          {-kHuge, 3, 8}, {0, 3, 8, 0},  {0, 2, 8},
          {0, 8},         {-1, 8}}) {
        // {0, 8} reads both trees as one, in which the second root's children come before it.
        check_rejected([&](Forest& f) { f.offset = offset; });
    }
    for (const std::int32_t feature : {2, -2, kMost, -kMost - 1}) {
        check_rejected([&](Forest& f) { f.feature[0] = feature; });
        check_rejected([&](Forest& f) { f.feature[5] = feature; });
    }
    // Itself, the root, outside on either side, and a right child just outside.
    for (const NodeId left : {2, 1, 0, -1, -5, 4, 5, kMost, kMost - 1, -kMost - 1}) {
        check_rejected([&](Forest& f) { f.left[5] = left; });
    }
    for (const NodeId left : {0, -1, 2, 3}) check_rejected([&](Forest& f) { f.left[0] = left; });
    check_rejected([](Forest& f) { f.feature.pop_back(); });
    check_rejected([](Forest& f) { f.threshold.pop_back(); });
    check_rejected([](Forest& f) { f.missing_left.pop_back(); });
    check_rejected([](Forest& f) { f.n_categories.pop_back(); });
    check_rejected([](Forest& f) { f.left.pop_back(); });
    check_rejected([](Forest& f) { f.value.pop_back(); });
    check_rejected([](Forest& f) { f.value.push_back(0); });
    check_rejected([](Forest& f) { f = Forest{{}}; });
}

TEST(predict_rejects_invalid_splits) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double threshold : {std::nan(""), -kInfinity}) {
        check_rejected([&](Forest& f) { f.threshold[5] = threshold; });
    }
    for (const std::uint8_t side : {2, 3, 128, 255}) {
        for (const std::size_t node : {0, 4, 5}) {
            check_rejected([&](Forest& f) { f.missing_left[node] = side; });
        }
    }
    using Counts = std::vector<std::int32_t>;
    using Categories = std::vector<CategoryId>;
    const auto with = [](const Counts& counts, const Categories& categories) {
        Forest forest = two_trees();
        forest.n_categories = counts;
        forest.categories = categories;
        return forest;
    };
    const Counts valid{1, 0, 0, 0, 0, 3, 0, 0};
    CHECK(with(valid, {7, 0, 1, 65535}).predictor(2).n_trees() == 2);
    CHECK(with(valid, {0, 0, 3, 4}).predictor(2).n_trees() == 2);
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    for (const Counts& counts : {Counts{1, 0, 0, 0, 0, 2, 0, 0},
                                 {1, 0, 0, 0, 0, 4, 0, 0},
                                 {1, 0, 0, 0, 0, -1, 0, 0},
                                 {5, 0, 0, 0, 0, -1, 0, 0},
                                 {-1, 0, 0, 0, 0, 5, 0, 0},
                                 {kMost, 0, 0, 0, 0, kMost, 0, 0},
                                 {-kMost - 1, 0, 0, 0, 0, 3, 0, 0},
                                 {1, 0, 0, 0, 3, 0, 0, 0},
                                 {0, 0, 0, 0, 0, 0, 0, 0},
                                 {1, 0, 0, 0, 0, 3, 0, 1}}) {
        CHECK_THROWS(std::invalid_argument, with(counts, {7, 0, 1, 65535}).predictor(2));
    }
    for (const Categories& categories : {Categories{},
                                         {7},
                                         {7, 0, 1},
                                         {7, 0, 0, 1},
                                         {7, 0, 2, 1},
                                         {7, 9, 2, 10},
                                         {7, 0, 1, 2, 3}}) {
        CHECK_THROWS(std::invalid_argument, with(valid, categories).predictor(2));
    }
}

// Valid trees do not share or omit children, but doing so is harmless.
TEST(predict_survives_a_shared_child) {
    Forest forest = two_trees();
    forest.left[3] = 3;
    const std::vector<double> x{0.2, 0.2};
    double mean = -1;
    forest.predictor(2).mean(Matrix<double>{x.data(), 1, 2, 2, 1}, &mean, 1, Poll{});
    CHECK(mean == 0.5);
}

TEST(predict_held_out_averages_the_trees_not_trained_on_a_row) {
    for (const Grown* g : {&small(), &medium(), &large()}) {
        const Matrix<double> x = g->data.matrix();
        const auto n = static_cast<std::uint32_t>(g->data.order.size());
        std::vector<double> sum(n), count(n);
        for (std::size_t t = 0; t < g->trees.size(); ++t) {
            const Sample sample = draw_sample(g->params, t, g->data.fit_rows());
            for (Row i = 0; i < n; ++i) {
                if (std::binary_search(sample.rows.begin(), sample.rows.end(), i)) continue;
                sum[i] += Forest::posterior(g->trees[t], walk(g->trees[t], x, g->data.order[i]));
                ++count[i];
            }
        }
        for (const std::uint32_t n_threads : {1u, 3u}) {
            TrainParams params = g->params;
            params.n_threads = n_threads;
            std::vector<double> mean(x.rows, -1);
            g->predictor.mean_held_out(x, g->data.fit_rows(), params, mean.data(), Poll{});
            for (Row i = 0; i < n; ++i) {
                const double m = mean[g->data.order[i]];
                CHECK(count[i] > 0 ? m == sum[i] / count[i] : std::isnan(m));
            }
            // Rows of X outside the fit are not written.
            CHECK(std::count(mean.begin(), mean.end(), -1) ==
                  static_cast<std::ptrdiff_t>(x.rows - n));
        }
    }
}

TEST(predict_held_out_is_nan_if_all_trees_were_trained_on_the_row) {
    const Grown g(90, {false, false, 30, 20});
    std::vector<double> mean(g.data.rows(), -1);
    g.predictor.mean_held_out(g.data.matrix(), g.data.fit_rows(), g.params, mean.data(), Poll{});
    for (std::size_t i = 0; i < 30; ++i) CHECK(std::isnan(mean[g.data.order[i]]));
    for (std::size_t i = 30; i < 90; ++i) CHECK(!std::isnan(mean[g.data.order[i]]));
}

TEST(predict_held_out_averages_the_trees_that_left_out_the_fold_of_a_row) {
    constexpr std::uint32_t kFolds = 4;
    for (const Grown* g : {&small(), &large()}) {
        Data<> data = g->data;
        data.fold = random_folds(data.order.size(), kFolds);
        TrainParams params = g->params;
        params.sampling = {false, false, 20, 30, kFolds};  // most rows are not seen anyway
        const Matrix<double> x = data.matrix();
        for (const std::uint32_t n_trees : {3u, 15u}) {
            const auto trees = std::span(g->trees).first(n_trees);
            const Predictor<double> predictor = Forest(trees).predictor(5);
            for (const std::uint32_t n_threads : {1u, 3u}) {
                params.n_threads = n_threads;
                std::vector<double> mean(x.rows, -1);
                predictor.mean_held_out(x, data.fit_rows(), params, mean.data(), Poll{});
                for (std::size_t i = 0; i < data.order.size(); ++i) {
                    const Row row = data.order[i];
                    double sum = 0, count = 0;
                    for (std::size_t t = data.fold[i]; t < n_trees; t += kFolds) {
                        sum += Forest::posterior(trees[t], walk(trees[t], x, row));
                        ++count;
                    }
                    CHECK(count > 0 ? mean[row] == sum / count : std::isnan(mean[row]));
                }
            }
        }
        data.fold.pop_back();
        std::vector<double> mean(x.rows);
        CHECK_THROWS(std::invalid_argument,
                     g->predictor.mean_held_out(x, data.fit_rows(), params, mean.data(), Poll{}));
    }
}

}  // namespace
}  // namespace puforest::testing
