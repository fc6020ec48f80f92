// Unlabeled rows that were checked: those found positive are a group, and weights can be zero.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "helpers.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

// The first unlabeled rows were found positive; labeled rows weigh less, some nothing.
struct Checked {
    Weights weights;
    std::uint32_t n_confirmed;

    Checked(const Data<>& data, std::uint32_t n, std::uint64_t seed) : n_confirmed(n) {
        Rng rng(seed);
        weights = random_weights(data, seed);
        weights.positive.resize(data.order.size());
        for (std::size_t i = 0; i < data.n_labeled; ++i) {
            weights.positive[i] = rng.uniform() < 0.2 ? 0 : weights.positive[i] * rng.uniform();
        }
        std::fill_n(weights.positive.begin() + data.n_labeled, n, 1.0);
    }

    RowWeights view() const { return {weights.positive.data(), weights.sample.data(), true}; }
};

FitRows with_confirmed(const Data<>& data, std::uint32_t n) {
    FitRows rows = data.fit_rows();
    rows.n_confirmed = n;
    return rows;
}

TrainParams checked_params(const Data<>& data, std::uint32_t n_confirmed) {
    TrainParams params = default_params(data);
    params.masses = {0.2, 0.1, 0.7, 0.2, 0.2};
    params.sampling.unlabeled -= n_confirmed;
    params.sampling.confirmed = n_confirmed;
    return params;
}

}  // namespace

TEST(checked_without_found_positives_grows_the_same_trees) {
    const Data<> data = random_data(3);
    Weights weights = random_weights(data, 4);
    const auto expected = fit(data, default_params(data), weights.view());
    weights.positive.resize(data.order.size());
    const RowWeights checked{weights.positive.data(), weights.sample.data(), true};
    CHECK(same(fit(data, default_params(data), checked), expected));
}

TEST(checked_masses_at_the_roots_are_those_of_all_rows) {
    const Data<> data = random_data(5, {60, 140, 4, 9});
    const std::uint32_t n = 20;
    const Checked checked(data, n, 6);
    for (const bool replace : {false, true}) {
        for (const bool together : {false, true}) {
            TrainParams params = checked_params(data, n);
            params.n_trees = 20;
            params.sampling = {replace || together, together, 30, 40, 0, 5};
            const auto trees =
                train(data.matrix(), with_confirmed(data, n), checked.view(), params, {});
            for (const Tree& tree : trees) {
                CHECK(std::abs(tree.w_p[0] - 0.4) < 1e-12);
                CHECK(std::abs(tree.w_u[0] - 1) < 1e-12);
                for (NodeId i = 0; i < tree.size(); ++i) {
                    CHECK(tree.w_p[i] >= 0 && tree.w_u[i] >= 0);
                }
            }
        }
    }
}

// Copies of the rows of a subtree have the weights of the rows; best-first growth makes none.
TEST(checked_weights_are_copied_with_the_rows) {
    const Data<> data = random_data(7, {2000, 6000, 3, 0});
    const std::uint32_t n = 500;
    const Checked checked(data, n, 8);
    TrainParams params = checked_params(data, n);
    params.n_trees = 2;
    params.min_samples_leaf = 3;
    const FitRows rows = with_confirmed(data, n);
    const auto depth_first = train(data.matrix(), rows, checked.view(), params, {});
    params.max_leaf_nodes = 1u << 20;
    const auto best_first = train(data.matrix(), rows, checked.view(), params, {});
    for (std::size_t t = 0; t < depth_first.size(); ++t) {
        CHECK(depth_first[t].size() > 1000);
        CHECK(splits_by_path(depth_first[t]) == splits_by_path(best_first[t]));
    }
}

TEST(checked_rows_without_weight_have_no_mass) {
    const Data<> data = random_data(9, {60, 140, 4, 9});
    const std::uint32_t n = 20;
    Checked checked(data, n, 10);
    std::fill_n(checked.weights.positive.begin(), data.n_labeled, 0.0);
    std::fill_n(checked.weights.sample.begin(), data.n_labeled, 0.0);
    TrainParams params = checked_params(data, n);
    params.masses = {0, 0, 0.8, 0.2, 0.2};
    for (const Risk risk : {Risk::nnPU, Risk::uPU}) {
        params.risk = risk;
        for (const Tree& tree :
             train(data.matrix(), with_confirmed(data, n), checked.view(), params, {})) {
            for (NodeId i = 0; i < tree.size(); ++i) {
                CHECK(tree.w_p[i] <= tree.w_u[i] + 1e-12);
                if (tree.n_unlabeled[i] == 0) CHECK(tree.w_p[i] == 0 && tree.w_u[i] == 0);
            }
        }
    }
}

TEST(checked_groups_are_sampled_separately) {
    std::vector<Row> order(40);
    std::iota(order.begin(), order.end(), Row{0});
    TrainParams params;
    for (const bool replace : {false, true}) {
        params.sampling = {replace, false, 6, 10, 0, 4};
        for (std::size_t tree = 0; tree < 50; ++tree) {
            const Sample sample = draw_sample(params, tree, {order, 12, {}, 8});
            const auto within = [&](Row first, Row last) {
                return std::ranges::count_if(sample.rows,
                                             [&](Row row) { return row >= first && row < last; });
            };
            CHECK(sample.n_labeled == 6 && within(0, 12) == 6);
            CHECK(sample.n_confirmed == 4 && within(12, 20) == 4);
            CHECK(within(20, 40) == 10);
        }
    }
    params.sampling = {true, true, 0, 0};
    order.resize(30);
    for (std::size_t tree = 0; tree < 100; ++tree) {
        const Sample sample = draw_sample(params, tree, {order, 1, {}, 1});
        CHECK(sample.n_labeled > 0 && sample.n_confirmed > 0);
        CHECK(sample.rows.size() > sample.n_labeled + sample.n_confirmed);
    }
}

TEST(checked_samples_are_outside_of_the_fold) {
    const Data<> data = random_data(11);
    std::vector<std::uint8_t> fold(data.order.size());
    for (std::size_t i = 0; i < fold.size(); ++i) fold[i] = static_cast<std::uint8_t>(i % 4);
    FitRows rows = with_confirmed(data, 10);
    rows.fold = fold;
    TrainParams params;
    params.sampling = {false, false, 1000, 20, 4, 1000};
    for (std::size_t tree = 0; tree < 8; ++tree) {
        const Sample sample = draw_sample(params, tree, rows);
        CHECK(sample.n_labeled == 30 && sample.rows.size() == 50 + sample.n_confirmed);
        CHECK(sample.n_confirmed == 7 || sample.n_confirmed == 8);
        CHECK(std::ranges::none_of(sample.rows, [&](Row r) { return fold[r] == tree % 4; }));
    }
}

TEST(checked_rows_must_leave_others) {
    const Data<> data = random_data(12);
    const auto fails = [&](std::uint32_t n, const Sampling& sampling) {
        return throws<std::invalid_argument>(
            [&] { check_sampling(with_confirmed(data, n), sampling); });
    };
    CHECK(!fails(10, {false, false, 40, 70, 0, 10}));
    CHECK(fails(80, {false, false, 40, 1, 0, 80}));
    CHECK(fails(10, {false, false, 40, 70, 0, 0}));
    CHECK(fails(10, {false, false, 40, 71, 0, 10}));
    CHECK(fails(10, {false, false, 40, 70, 0, 11}));
}

}  // namespace puforest::testing
