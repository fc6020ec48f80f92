#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/monotone.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// All values of a feature that a tree can tell apart.
std::vector<double> grid(const Data<>& data, std::size_t feature) {
    std::vector<double> values{-1e9, 1e9};
    for (std::size_t i = 0; i < data.rows(); ++i) {
        const double value = data.x[i * data.cols + feature];
        if (!std::isnan(value)) values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    return values;
}

// Number of neighboring values of a feature at which the posterior of some row falls
// (direction 1) or rises (direction -1); `value(tree, leaf)` is the posterior.
template <class Value>
std::size_t violations(const Tree& tree, const Data<>& data, std::size_t feature, int direction,
                       Value&& value) {
    constexpr std::size_t kRows = 25;
    const std::vector<double> values = grid(data, feature);
    std::size_t n = 0;
    for (std::size_t i = 0; i < std::min(kRows, data.rows()); ++i) {
        const auto first = data.x.begin() + static_cast<std::ptrdiff_t>(i * data.cols);
        std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(data.cols));
        const Matrix<double> x{row.data(), 1, data.cols, 0, 1};
        double last = direction > 0 ? -kInfinity : kInfinity;
        for (const double at : values) {
            row[feature] = at;
            const double here = value(tree, walk(tree, x, 0));
            n += direction > 0 ? here < last : here > last;
            last = here;
        }
    }
    return n;
}

// Unlike the posterior, not clipped at 1.
double unclipped(const Tree& tree, NodeId i) { return ratio({tree.w_p[i], tree.w_u[i]}); }

// Constrained are the features 0 (more), 2 (less; with missing values) and 4 (more); labeled rows
// have larger values, so that the constraint on 2 is against the data.
Table constrained_table(std::uint64_t seed) { return random_table(seed, {60, 240, 6, 0}); }

TrainParams constrained_params(const Table& table) {
    TrainParams params = table_params(table);
    params.increasing_features = {0, 4};
    params.decreasing_features = {2};
    params.max_features = 3;
    params.n_trees = 4;
    return params;
}

// Number of violations of all constraints.
std::size_t violations(const std::vector<Tree>& trees, const Table& table) {
    std::size_t n = 0;
    for (const Tree& tree : trees) {
        n += violations(tree, table, 0, 1, unclipped) + violations(tree, table, 4, 1, unclipped) +
             violations(tree, table, 2, -1, unclipped) +
             violations(tree, table, 0, 1, Forest::posterior) +
             violations(tree, table, 2, -1, Forest::posterior);
    }
    return n;
}

TEST(monotone_trees_are_monotone) {
    std::size_t without = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const Table table = constrained_table(seed);
        const Weights weights = random_weights(table, seed);
        for (const Risk risk : {Risk::uPU, Risk::nnPU, Risk::PN}) {
            for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
                TrainParams params = constrained_params(table);
                params.seed = seed;
                params.risk = risk;
                params.thresholds = mode;
                params.masses =
                    risk == Risk::PN ? GroupMasses{0.4, 0.4, 0.6} : GroupMasses{0.4, 0, 1};
                for (const bool replace : {false, true}) {
                    if (replace) params.sampling = {true, false, 60, 240};
                    CHECK(violations(check_trees(table, params, nullptr), table) == 0);
                    CHECK(violations(check_trees(table, params, &weights), table) == 0);
                }
                params.max_leaf_nodes = 12;
                CHECK(violations(fit(table, params), table) == 0);
                params.increasing_features = params.decreasing_features = {};
                without += violations(fit(table, params), table);
            }
        }
    }
    CHECK(without > 500);
}

// Rows that differ in the constrained features only, with equal masses on both sides of many
// thresholds: the sums of their weights are rounded differently in the search and in the tree.
TEST(monotone_trees_are_monotone_up_to_the_last_digit) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        Rng rng(seed);
        const std::uint32_t n = 40;
        Table table{random_data(seed, {n, 2 * n, 3, 0}), {}};
        Weights weights = unit_weights(table);
        const double w = 0.1 + rng.uniform();
        const double v = 0.1 + rng.uniform();
        for (std::uint32_t i = 0; i < 3 * n; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                table.x[table.order[i] * 3 + j] = std::floor(rng.uniform() * 6);
            }
            weights.sample[i] = i < n ? w : v;
            if (i < n) weights.positive[i] = w;
        }
        TrainParams params = default_params(table);
        params.increasing_features = {0, 2};
        params.decreasing_features = {1};
        params.max_features = 3;
        params.n_trees = 20;
        params.masses = {0.4, 0, 1};
        for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
            params.thresholds = mode;
            for (const std::uint32_t most : {0u, 20u}) {
                params.max_leaf_nodes = most;
                for (const Tree& tree : fit(table, params, weights.view())) {
                    for (std::size_t j = 0; j < 3; ++j) {
                        CHECK(violations(tree, table, j, j == 1 ? -1 : 1, unclipped) == 0);
                    }
                }
            }
        }
    }
}

// An optimal split that is in order is allowed; a constraint against the data prevents all splits.
TEST(monotone_constraints_of_a_single_feature) {
    Data<> data = random_data(5, {50, 100, 1, 0});
    for (std::size_t i = 0; i < data.order.size(); ++i) {
        data.x[data.order[i]] = i < 50 ? 1 + data.x[data.order[i]] : data.x[data.order[i]];
    }
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params = default_params(data);
        params.max_features = 1;
        params.thresholds = mode;
        params.masses = {0.3, 0.3, 0.7};
        params.risk = Risk::PN;
        const auto free = fit(data, params);
        params.increasing_features = {0};
        if (mode == Thresholds::Optimal) CHECK(same(fit(data, params), free));
        CHECK(fit(data, params)[0].size() > 1);
        params.increasing_features = {};
        params.decreasing_features = {0};
        CHECK(fit(data, params)[0].size() == 1);
    }
}

TEST(monotone_constraints_of_a_constant_feature_change_nothing) {
    Table table = constrained_table(8);
    for (std::size_t k = 0; k < table.x.size(); k += table.cols) table.x[k] = 1;
    TrainParams params = table_params(table);
    params.max_features = 3;
    const auto expected = fit(table, params);
    params.increasing_features = {0};
    CHECK(same(fit(table, params), expected));
}

TEST(monotone_sparse_training_equals_dense_training) {
    Table table = constrained_table(6);
    for (std::size_t k = 0; k < table.x.size(); k += 3) table.x[k] = 0;
    const Sparse<double> sparse(table.matrix());
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params = constrained_params(table);
        params.thresholds = mode;
        const auto trees = train(sparse.matrix(), table.fit_rows(), {}, params, Poll{});
        CHECK(same(trees, fit(table, params)));
        CHECK(violations(trees, table) == 0);
    }
}

TEST(monotone_midpoint_is_between) {
    Rng rng(9);
    for (int i = 0; i < 1000; ++i) {
        const double a = std::ldexp(rng.uniform(), static_cast<int>(rng.below(2000)) - 1000);
        for (const double b :
             {a, std::nextafter(a, kInfinity), a * 1.5, a + 1.0, 1e308, kInfinity}) {
            const double low = std::min(a, b);
            const double high = std::max(a, b);
            CHECK(low <= midpoint(low, high) && midpoint(low, high) <= high);
        }
    }
    CHECK(midpoint(kInfinity, kInfinity) == kInfinity);
    CHECK(Bounds{}.contain(0) && Bounds{}.contain(kInfinity) && !Bounds{}.contain(-1));
}

}  // namespace
}  // namespace puforest::testing
