// Invariants of every tree, for any parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/risk.hpp"

namespace puforest::testing {

struct Weights {
    std::vector<double> positive, sample;

    RowWeights view() const { return {positive.data(), sample.data()}; }
};

inline Weights unit_weights(const Data<>& data) {
    return {std::vector<double>(data.n_labeled, 1.0), std::vector<double>(data.order.size(), 1.0)};
}

inline Weights random_weights(const Data<>& data, std::uint64_t seed) {
    Rng rng(seed);
    Weights weights = unit_weights(data);
    for (double& w : weights.sample) w = 0.5 + rng.uniform();
    for (std::size_t i = 0; i < weights.positive.size(); ++i) {
        weights.positive[i] = weights.sample[i] / (0.2 + 0.8 * rng.uniform());
    }
    return weights;
}

// By definition: whether a node with these masses must not be split.
inline bool is_pure(const TrainParams& params, double w_p, double w_u) {
    if (w_p <= 0 || w_u <= 0) return true;
    if (params.risk != Risk::uPU) return w_u <= w_p;
    switch (params.loss) {
        case Loss::Logistic:
        case Loss::Hinge:
        case Loss::DoubleHinge:
        case Loss::Exponential: return w_u < w_p;
        default: return false;
    }
}

// A list of categories in ascending order exactly if the feature is categorical.
inline void check_split(const Tree& tree, NodeId i, std::span<const CategoryId> list,
                        const TrainParams& params) {
    const auto& categorical = params.categorical_features;
    const bool of_categories =
        std::find(categorical.begin(), categorical.end(), tree.feature[i]) != categorical.end();
    CHECK(list.empty() == !of_categories);
    CHECK(std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end());
    CHECK(tree.missing_left[i] <= 1);
    if (of_categories) CHECK(tree.threshold[i] == 0);
    if (!std::isfinite(tree.threshold[i])) {
        CHECK(tree.threshold[i] > 0 && tree.missing_left[i] == 0);
    }
}

inline void check_structure(const Tree& tree, const TrainParams& params) {
    const auto n = static_cast<std::size_t>(tree.size());
    CHECK(n % 2 == 1);
    for_each_node_field([&](const auto&, auto get) { CHECK(get(tree).size() == n); });
    std::vector<int> parents(n);
    std::size_t begin = 0;  // of the categories of the next node
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] == kLeaf) {
            for_each_node_field([&](const auto& field, auto get) {
                CHECK(get(tree)[i] == field.in_leaves.value_or(get(tree)[i]));
            });
            continue;
        }
        const NodeId left = tree.left[i];
        CHECK(left > i && left + 1 < tree.size());
        if (left <= i || left + 1 >= tree.size()) return;
        CHECK(!is_pure(params, tree.w_p[i], tree.w_u[i]));
        const auto n_listed = static_cast<std::size_t>(tree.n_categories[i]);
        CHECK(begin + n_listed <= tree.categories.size());
        if (begin + n_listed > tree.categories.size()) return;
        check_split(tree, i, std::span(tree.categories).subspan(begin, n_listed), params);
        begin += n_listed;
        for (const NodeId child : {left, left + 1}) {
            ++parents[static_cast<std::size_t>(child)];
            CHECK(tree.n_labeled[child] + tree.n_unlabeled[child] >=
                  static_cast<std::int32_t>(std::max(1u, params.min_samples_leaf)));
        }
    }
    CHECK(begin == tree.categories.size());
    CHECK(parents[0] == 0 && std::count(parents.begin() + 1, parents.end(), 1) == tree.size() - 1);
}

// Statistics of a node computed from its rows, to compare with the tree.
struct NodeSums {
    std::int32_t n_labeled = 0, n_unlabeled = 0;
    double positive = 0, labeled = 0, unlabeled = 0;
    std::vector<Row> rows;  // positions in the order

    void add(Row position, const Data<>& data, const Weights& weights) {
        rows.push_back(position);
        if (position < data.n_labeled) {
            ++n_labeled;
            positive += weights.positive[position];
            labeled += weights.sample[position];
        } else {
            ++n_unlabeled;
            unlabeled += weights.sample[position];
        }
    }
};

// Pass the training rows of tree `number` down from the root.
inline std::vector<NodeSums> sums_by_node(const Tree& tree, std::uint32_t number,
                                          const Data<>& data, const TrainParams& params,
                                          const Weights& weights) {
    const Sample sample = draw_sample(params, number, data.fit_rows());
    std::vector<NodeSums> nodes(static_cast<std::size_t>(tree.size()));
    for (const Row position : sample.rows) nodes[0].add(position, data, weights);
    std::size_t begin = 0;
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] == kLeaf) continue;
        const auto n_listed = static_cast<std::size_t>(tree.n_categories[i]);
        const auto list = std::span(tree.categories).subspan(begin, n_listed);
        begin += n_listed;
        for (const Row position : nodes[i].rows) {
            const double value = data.matrix().at(data.order[position], tree.feature[i]);
            const NodeId child = tree.left[i] + !goes_left(tree, i, list, value);
            nodes[child].add(position, data, weights);
        }
    }
    return nodes;
}

inline bool is_near(double a, double b) { return std::abs(a - b) < 1e-12; }

inline void check_sums(const Tree& tree, const std::vector<NodeSums>& nodes,
                       const GroupMasses& masses) {
    const NodeSums& root = nodes[0];
    for (NodeId i = 0; i < tree.size(); ++i) {
        CHECK(tree.n_labeled[i] == nodes[i].n_labeled);
        CHECK(tree.n_unlabeled[i] == nodes[i].n_unlabeled);
        CHECK(is_near(tree.w_p[i], masses.labeled_p * nodes[i].positive / root.positive));
        CHECK(is_near(tree.w_u[i], masses.labeled_u * nodes[i].labeled / root.labeled +
                                       masses.unlabeled_u * nodes[i].unlabeled / root.unlabeled));
    }
}

// Missing values that no row of a node has go to the larger child, and only categories that some
// row has are listed.
inline void check_missing(const Tree& tree, const std::vector<NodeSums>& nodes,
                          const Data<>& data) {
    std::size_t begin = 0;
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] == kLeaf) continue;
        std::set<double> values;
        bool any_missing = false;
        for (const Row position : nodes[i].rows) {
            const double value = data.matrix().at(data.order[position], tree.feature[i]);
            if (std::isnan(value)) {
                any_missing = true;
            } else {
                values.insert(value);
            }
        }
        const NodeId left = tree.left[i];
        if (!any_missing) {
            CHECK((tree.missing_left[i] == 1) == (tree.w_u[left] >= tree.w_u[left + 1]));
            CHECK(std::isfinite(tree.threshold[i]));
        }
        const auto n_listed = static_cast<std::size_t>(tree.n_categories[i]);
        for (std::size_t k = 0; k < n_listed; ++k) {
            CHECK(values.contains(tree.categories[begin + k]));
        }
        begin += n_listed;
    }
}

// Without limits, a leaf is pure or all its rows are identical.
inline void check_fully_grown(const Tree& tree, const std::vector<NodeSums>& nodes,
                              const Data<>& data, const TrainParams& params) {
    const Matrix<double> x = data.matrix();
    const auto same_value = [](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b));
    };
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] != kLeaf || is_pure(params, tree.w_p[i], tree.w_u[i])) continue;
        for (std::size_t j = 0; j < data.cols; ++j) {
            for (const Row position : nodes[i].rows) {
                CHECK(same_value(x.at(data.order[position], j),
                                 x.at(data.order[nodes[i].rows[0]], j)));
            }
        }
    }
}

// Whether every impure node whose rows differ has a split: constraints forbid some, and optimal
// splits under nnPU keep rare categories together.
inline bool grows_fully(const TrainParams& params) {
    const bool constrained =
        !params.increasing_features.empty() || !params.decreasing_features.empty();
    const bool keeps_together = params.risk == Risk::nnPU &&
                                params.thresholds == Thresholds::Optimal &&
                                !params.categorical_features.empty();
    return params.max_depth == TrainParams{}.max_depth && !constrained && !keeps_together;
}

// Grow trees, with weights or without, and check everything above.
inline std::vector<Tree> check_trees(const Data<>& data, const TrainParams& params,
                                     const Weights* weights) {
    auto trees = fit(data, params, weights ? weights->view() : RowWeights{});
    CHECK(trees.size() == params.n_trees);
    for (std::uint32_t t = 0; t < trees.size(); ++t) {
        check_structure(trees[t], params);
        const auto nodes =
            sums_by_node(trees[t], t, data, params, weights ? *weights : unit_weights(data));
        check_sums(trees[t], nodes, params.masses);
        check_missing(trees[t], nodes, data);
        if (grows_fully(params)) check_fully_grown(trees[t], nodes, data, params);
        CHECK(trees[t].size() > 1);
    }
    return trees;
}

inline double quadratic_risk(double w_p, double w_u) {
    return NodeRisk<QuadraticLoss, true>::minimum(w_p, w_u);
}

// Risk reduction of a split with the default parameters.
inline double reduction(const Tree& tree, NodeId i) {
    const NodeId l = tree.left[i];
    return quadratic_risk(tree.w_p[i], tree.w_u[i]) - quadratic_risk(tree.w_p[l], tree.w_u[l]) -
           quadratic_risk(tree.w_p[l + 1], tree.w_u[l + 1]);
}

// Path of a node: "" for the root, then L and R.
inline std::vector<std::string> paths_of(const Tree& tree) {
    std::vector<std::string> paths(static_cast<std::size_t>(tree.size()));
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] == kLeaf) continue;
        paths[tree.left[i]] = paths[i] + 'L';
        paths[tree.left[i] + 1] = paths[i] + 'R';
    }
    return paths;
}

// A split, wherever it is stored.
struct AnySplit {
    std::int32_t feature;
    double threshold;
    std::uint8_t missing_left;
    std::vector<CategoryId> categories;

    bool operator==(const AnySplit&) const = default;
};

inline AnySplit split_of(const Tree& tree, NodeId i) {
    const auto list = listed(tree, i);
    return {tree.feature[i], tree.threshold[i], tree.missing_left[i], {list.begin(), list.end()}};
}

using Splits = std::map<std::string, AnySplit>;

// The tree independent of the order of its nodes.
inline Splits splits_by_path(const Tree& tree) {
    const std::vector<std::string> paths = paths_of(tree);
    Splits splits;
    for (NodeId i = 0; i < tree.size(); ++i) {
        if (tree.feature[i] != kLeaf) splits[paths[i]] = split_of(tree, i);
    }
    return splits;
}

// The splits of the full tree that a greedy choice makes.
inline Splits greedy(const Tree& full, std::size_t n_leaves) {
    const auto paths = paths_of(full);
    std::priority_queue<std::pair<double, NodeId>> open;
    const auto push = [&](NodeId i) {
        if (full.feature[i] != kLeaf) open.push({reduction(full, i), i});
    };
    Splits chosen;
    push(0);
    while (!open.empty() && chosen.size() + 1 < n_leaves) {
        const NodeId i = open.top().second;
        open.pop();
        chosen[paths[i]] = split_of(full, i);
        push(full.left[i]);
        push(full.left[i] + 1);
    }
    return chosen;
}

}  // namespace puforest::testing
