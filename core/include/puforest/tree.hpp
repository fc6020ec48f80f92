// A grown tree: parallel arrays over its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Tree {
    static constexpr std::int32_t kLeaf = -1;

    std::vector<std::int32_t> feature;  // split feature, or kLeaf
    std::vector<double> threshold;      // x <= threshold goes left; 0 in a leaf
    std::vector<NodeId> left;           // left child, right = left + 1; kLeaf in a leaf
    std::vector<double> w_p, w_u;       // masses
    std::vector<std::int32_t> n_labeled, n_unlabeled;

    NodeId size() const { return static_cast<NodeId>(feature.size()); }
};

// The same while the forest grows, when memory is scarce: less than half the size.
template <class Stats>
struct PackedTree {
    struct Split {
        NodeId node;
        FeatureId feature;
        double threshold;
    };

    std::vector<Stats> total;   // of each node
    std::vector<Split> splits;  // number j made the nodes 2j + 1 and 2j + 2
    MassFactors factors{};

    Tree unpack() const {
        Tree tree;
        const std::size_t n = total.size();
        tree.feature.assign(n, Tree::kLeaf);
        tree.threshold.assign(n, 0);
        tree.left.assign(n, Tree::kLeaf);
        for (const Stats& stats : total) {
            const NodeMasses masses = stats.masses(factors);
            tree.w_p.push_back(masses.w_p);
            tree.w_u.push_back(masses.w_u);
            tree.n_labeled.push_back(static_cast<std::int32_t>(stats.counts().labeled));
            tree.n_unlabeled.push_back(static_cast<std::int32_t>(stats.counts().unlabeled));
        }
        for (std::size_t j = 0; j < splits.size(); ++j) {
            const auto [node, feature, threshold] = splits[j];
            const auto i = static_cast<std::size_t>(node);
            tree.feature[i] = static_cast<std::int32_t>(feature);
            tree.threshold[i] = threshold;
            tree.left[i] = static_cast<NodeId>(2 * j + 1);
        }
        return tree;
    }
};

}  // namespace puforest
