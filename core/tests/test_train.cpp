#include <cmath>
#include <set>
#include <stdexcept>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/train.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

TEST(train_trees_are_valid) {
    const Data<> few = random_data(1, {40, 80, 4, 6});
    const Data<> many = random_data(2, {30, 60, 3, 0});
    for (const Data<>* data : {&few, &many}) {
        const Weights weights = random_weights(*data, 3);
        TrainParams params = default_params(*data);
        params.n_thresholds = 2;
        for (const Risk risk : {Risk::uPU, Risk::nnPU, Risk::PN}) {
            params.risk = risk;
            params.masses =
                risk == Risk::PN ? GroupMasses{0.4, 0.4, 0.6} : GroupMasses{0.4, 0.1, 1};
            for (int loss = 0; loss <= static_cast<int>(Loss::Exponential); ++loss) {
                params.loss = static_cast<Loss>(loss);
                for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
                    params.thresholds = mode;
                    for (const Sampling& sampling :
                         {all_rows(*data), Sampling{false, false, 11, 35},
                          Sampling{true, false, 30, 60}, Sampling{true, true, 0, 0}}) {
                        params.sampling = sampling;
                        check_trees(*data, params, nullptr);
                        check_trees(*data, params, &weights);
                    }
                }
            }
        }
    }
}

TEST(train_trees_that_leave_out_a_fold_are_valid) {
    Data<> data = random_data(3, {40, 80, 4, 6});
    data.fold = random_folds(data.order.size(), 4);
    const Weights weights = random_weights(data, 4);
    TrainParams params = default_params(data);
    params.n_trees = 9;
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        params.thresholds = mode;
        for (const Sampling& sampling :
             {Sampling{false, false, 40, 80, 4}, Sampling{false, false, 10, 30, 4},
              Sampling{true, false, 40, 50, 4}}) {
            params.sampling = sampling;
            check_trees(data, params, nullptr);
            check_trees(data, params, &weights);
        }
    }
    // The same as without folds, on the rows of the others.
    params.sampling = {false, false, 40, 80, 4};
    const auto trees = fit(data, params);
    for (std::uint32_t t = 0; t < params.n_trees; ++t) {
        Data<> others{data.x, data.cols, {}, 0};
        for (std::size_t i = 0; i < data.order.size(); ++i) {
            if (data.fold[i] == t % 4) continue;
            others.order.push_back(data.order[i]);
            others.n_labeled += i < data.n_labeled;
        }
        TrainParams of_others = params;
        of_others.sampling = all_rows(others);
        CHECK(fit(others, of_others)[t] == trees[t]);
    }
}

// More rows than two-byte codes can represent; nodes of all sizes.
TEST(train_with_codes_of_every_width) {
    Data<> data = random_data(20, {20'000, 60'000, 3, 0});
    for (std::size_t k = 0; k < data.x.size(); k += 3) {
        data.x[k] = std::round(data.x[k] * 200);
        data.x[k + 1] = std::round(data.x[k + 1] * 30'000);
    }
    const Weights weights = random_weights(data, 21);
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params = default_params(data);
        params.thresholds = mode;
        params.max_features = 1;
        params.max_depth = 5;
        params.n_trees = 1;
        for (const Weights* w : {static_cast<const Weights*>(nullptr), &weights}) {
            for (const Tree& tree : check_trees(data, params, w)) {
                const std::set<std::int32_t> used(tree.feature.begin(), tree.feature.end());
                CHECK(used == std::set<std::int32_t>({-1, 0, 1, 2}));
            }
        }
    }
}

TEST(train_counts_match_the_leaves_of_the_rows) {
    const Data<> data = random_data(4, {60, 200, 5, 0});
    const TrainParams params = default_params(data);
    const auto trees = fit(data, params);
    const Predictor<double> predictor = Forest(trees).predictor(5);
    std::vector<std::int32_t> leaves(data.rows() * trees.size());
    predictor.leaves(data.matrix(), leaves.data(), 2, Poll{});
    for (std::size_t t = 0; t < trees.size(); ++t) {
        std::vector<std::int32_t> labeled(trees[t].feature.size());
        std::vector<std::int32_t> unlabeled(trees[t].feature.size());
        for (std::size_t i = 0; i < data.order.size(); ++i) {
            ++(i < data.n_labeled ? labeled : unlabeled)[leaves[data.order[i] * 3 + t]];
        }
        for (NodeId k = 0; k < trees[t].size(); ++k) {
            if (trees[t].feature[k] != kLeaf) continue;
            CHECK(labeled[k] == trees[t].n_labeled[k]);
            CHECK(unlabeled[k] == trees[t].n_unlabeled[k]);
        }
    }
}

TEST(train_respects_limits) {
    const Data<> data = random_data(8);
    const TrainParams free = default_params(data);
    const std::size_t full_size = fit(data, free)[0].feature.size();
    const auto limited = [&](auto TrainParams::* limit, auto value) {
        TrainParams params = free;
        params.*limit = value;
        const Tree tree = fit(data, params)[0];
        check_structure(tree, params);
        CHECK(tree.feature.size() > 1 && tree.feature.size() < full_size);
        return tree;
    };
    for (const std::string& path : paths_of(limited(&TrainParams::max_depth, 3u))) {
        CHECK(path.size() <= 3);
    }
    for (const std::uint32_t fewest : {2u, 3u, 7u}) limited(&TrainParams::min_samples_leaf, fewest);
    const Tree split = limited(&TrainParams::min_samples_split, 15u);
    const Tree reduced = limited(&TrainParams::min_risk_reduction, 0.003);
    for (NodeId i = 0; i < split.size(); ++i) {
        CHECK(split.feature[i] == kLeaf || split.n_labeled[i] + split.n_unlabeled[i] >= 15);
    }
    for (NodeId i = 0; i < reduced.size(); ++i) {
        CHECK(reduced.feature[i] == kLeaf || reduction(reduced, i) >= 0.003);
    }
}

TEST(train_best_first_is_a_subtree_of_the_full_tree) {
    const Data<> data = random_data(9, {80, 200, 6, 0});
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params = default_params(data);
        params.thresholds = mode;
        const Tree full = fit(data, params)[0];
        for (const std::uint32_t n_leaves : {1u, 2u, 3u, 5u, 9u}) {
            params.max_leaf_nodes = n_leaves;
            const Tree tree = fit(data, params)[0];
            CHECK(leaf_count(tree) == n_leaves);
            CHECK(splits_by_path(tree) == greedy(full, n_leaves));
        }
        params.max_leaf_nodes = 1'000'000;
        const Tree all = fit(data, params)[0];
        check_structure(all, params);
        CHECK(splits_by_path(all) == splits_by_path(full));
    }
}

TEST(train_row_order_does_not_change_the_trees) {
    for (const std::uint32_t levels : {0u, 5u}) {
        Data<> data = random_data(11, {40, 80, 4, levels});
        const TrainParams params = default_params(data);
        const auto expected = fit(data, params);
        Rng rng(12);
        shuffle(std::span(data.order).first(data.n_labeled), rng);
        shuffle(std::span(data.order).subspan(data.n_labeled), rng);
        CHECK(same(fit(data, params), expected));
    }
}

// Call use(params) for parameters that exercise both estimators and both searches.
template <class Use>
void for_each_search(const Data<>& data, const Use& use) {
    for (const Risk risk : {Risk::uPU, Risk::nnPU}) {
        for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
            TrainParams params = default_params(data);
            params.risk = risk;
            params.thresholds = mode;
            params.masses = {0.3, 0.25, 0.75};
            use(params);
        }
    }
}

TEST(train_unit_weights_equal_counts) {
    const Data<> data = random_data(15);
    for_each_search(data, [&](TrainParams params) {
        CHECK(same(fit(data, params, unit_weights(data).view()), fit(data, params)));
        params.sampling = {true, false, 40, 80};
        CHECK(same(fit(data, params, unit_weights(data).view()), fit(data, params)));
    });
}

TEST(train_a_weight_of_two_equals_a_duplicate_row) {
    const Data<> data = random_data(16);
    Data<> twice{data.x, data.cols, {}, 0};
    Weights weights = unit_weights(data);
    for (std::uint32_t i = 0; i < data.order.size(); ++i) {
        const bool doubled = i % 3 == 0;
        twice.order.insert(twice.order.end(), doubled ? 2 : 1, data.order[i]);
        if (i < data.n_labeled) twice.n_labeled = static_cast<std::uint32_t>(twice.order.size());
        if (i < data.n_labeled && doubled) weights.positive[i] = 2;
        if (doubled) weights.sample[i] = 2;
    }
    for_each_search(data, [&](TrainParams params) {
        const auto weighted = fit(data, params, weights.view());
        CHECK(!same(weighted, fit(data, params)));
        params.sampling = all_rows(twice);
        const auto repeated = fit(twice, params);
        for (std::size_t t = 0; t < weighted.size(); ++t) {
            CHECK(splits_by_path(weighted[t]) == splits_by_path(repeated[t]));
            CHECK(weighted[t].w_p == repeated[t].w_p && weighted[t].w_u == repeated[t].w_u);
        }
    });
}

TEST(train_trees_can_be_long_chains) {
    const Data<> data = chain_data(kChainFeatures);
    TrainParams params = default_params(data);
    params.n_trees = 1;
    params.max_features = 1;
    params.masses = {1e-9, 0, 1};
    const auto trees = fit(data, params);
    const Tree& tree = trees[0];
    check_structure(tree, params);
    std::vector<std::size_t> depth(tree.feature.size());
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] == kLeaf) continue;
        depth[tree.left[i]] = depth[tree.left[i] + 1] = depth[i] + 1;
    }
    const std::size_t deepest = *std::max_element(depth.begin(), depth.end());
    CHECK(deepest > data.rows() * 98 / 100);
    const Matrix<double> two_rows{data.x.data(), 2, data.cols, kChainFeatures, 1};
    std::int32_t leaves[2];
    Forest(trees).predictor(kChainFeatures).leaves(two_rows, leaves, 1, Poll{});
    CHECK(leaves[0] == leaves[1] && depth[leaves[0]] == deepest);
}

TEST(train_rejects_inconsistent_sizes) {
    const Data<> data = random_data(18);
    const TrainParams params = default_params(data);
    const auto refuses = [&](Data<> changed, const TrainParams& p) {
        CHECK_THROWS(std::invalid_argument, fit(changed, p));
    };
    const auto with_sampling = [&](const Sampling& sampling) {
        TrainParams changed = params;
        changed.sampling = sampling;
        return changed;
    };
    Data<> wrong_row = data;
    wrong_row.order[50] = static_cast<Row>(data.rows());
    refuses(wrong_row, params);
    refuses({data.x, data.cols, data.order, 0}, params);
    refuses({data.x, data.cols, data.order, 120}, params);
    refuses({data.x, data.cols, data.order, 121}, params);
    refuses({data.x, data.cols, {}, 0}, params);
    refuses(data, with_sampling({false, false, 0, 80}));
    refuses(data, with_sampling({true, false, 40, 0}));
    refuses(data, with_sampling({false, false, 41, 80}));
    refuses(data, with_sampling({false, false, 40, 81}));
    CHECK(fit(data, with_sampling({true, false, 41, 81}))[0].n_labeled[0] == 41);
    TrainParams unknown = params;
    unknown.loss = static_cast<Loss>(99);
    refuses(data, unknown);
    const Matrix<double> no_columns{data.x.data(), data.rows(), 0, 0, 1};
    CHECK_THROWS(std::invalid_argument, train(no_columns, data.fit_rows(), {}, params, Poll{}));
}

}  // namespace
}  // namespace puforest::testing
