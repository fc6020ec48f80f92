// A grown tree.
#pragma once

#include <cstdint>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/node_fields.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Tree : NodeVectors {
    NodeId size() const { return static_cast<NodeId>(feature.size()); }
};

// A tree in less than half the memory, for as long as the codes take most of it.
template <class Stats>
struct PackedTree {
    struct Split {
        NodeId node;
        FeatureId feature;
        double threshold;
    };

    std::vector<Stats> total;   // of each node
    std::vector<Split> splits;  // split j created the nodes 2j + 1 and 2j + 2
    MassFactors factors{};

    Tree unpack() const {
        Tree tree;
        const std::size_t n = total.size();
        for_each_node_field([&]<class T>(const NodeField<T>& field, auto get) {
            get(tree).assign(n, field.in_leaves.value_or(T{}));
        });
        for (std::size_t i = 0; i < n; ++i) {
            const NodeMasses masses = total[i].masses(factors);
            tree.w_p[i] = masses.w_p;
            tree.w_u[i] = masses.w_u;
            tree.n_labeled[i] = static_cast<std::int32_t>(total[i].counts().labeled);
            tree.n_unlabeled[i] = static_cast<std::int32_t>(total[i].counts().unlabeled);
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
