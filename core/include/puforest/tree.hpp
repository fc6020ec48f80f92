// A grown tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "puforest/choose.hpp"
#include "puforest/compiler.hpp"
#include "puforest/masses.hpp"
#include "puforest/node_fields.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Tree : NodeVectors {
    std::vector<CategoryId> categories;  // lists of the nodes, one after another

    NodeId size() const { return static_cast<NodeId>(feature.size()); }
    bool operator==(const Tree&) const = default;
};

// A tree in less than half the memory, for as long as the codes take most of it.
template <class Stats>
struct PackedTree {
    struct Split {
        NodeId node;
        FeatureId feature : 30;
        FeatureId missing_left : 1;
        FeatureId categorical : 1;
        double threshold;  // number of listed categories if categorical
    };

    std::vector<Stats> total;            // of each node
    std::vector<Split> splits;           // split j created the nodes 2j + 1 and 2j + 2
    std::vector<CategoryId> categories;  // lists of the splits, one after another
    MassFactors factors{};

    // Append a node.
    NodeId add(const Stats& rows) {
        total.push_back(rows);
        return static_cast<NodeId>(total.size() - 1);
    }

    // Append the split of a node, whose children are the two nodes added last.
    template <class Column>
    void add_split(NodeId node, const puforest::Split& split, const Column& column,
                   bool missing_left) {
        const bool categorical = !split.categories.empty();
        const double threshold =
            categorical ? add_categories(split, column, missing_left) : split.threshold;
        splits.push_back({node, split.feature, missing_left, categorical, threshold});
    }

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
            const Split& split = splits[j];
            const auto i = static_cast<std::size_t>(split.node);
            tree.feature[i] = static_cast<std::int32_t>(split.feature);
            tree.missing_left[i] = split.missing_left;
            tree.left[i] = static_cast<NodeId>(2 * j + 1);
            if (split.categorical) {
                tree.n_categories[i] = static_cast<std::int32_t>(split.threshold);
            } else {
                tree.threshold[i] = split.threshold;
            }
        }
        if (!categories.empty()) tree.categories = by_node(tree.n_categories);
        return tree;
    }

private:
    // Return their number.
    template <class Column>
    PUFOREST_RARE double add_categories(const puforest::Split& split, const Column& column,
                                        bool missing_left) {
        const auto all = std::span(split.categories);
        const auto listed = missing_left ? all.subspan(split.n_left) : all.first(split.n_left);
        for (const Code code : listed) {
            categories.push_back(static_cast<CategoryId>(column.value(code)));
        }
        return static_cast<double>(listed.size());
    }

    // The lists of categories in the order of the nodes.
    std::vector<CategoryId> by_node(const std::vector<std::int32_t>& n_categories) const {
        std::vector<std::size_t> begin(n_categories.size());
        std::exclusive_scan(n_categories.begin(), n_categories.end(), begin.begin(),
                            std::size_t{0});
        std::vector<CategoryId> lists(categories.size());
        auto next = categories.begin();
        for (const Split& split : splits) {
            const auto i = static_cast<std::size_t>(split.node);
            if (!split.categorical) continue;
            std::copy_n(next, n_categories[i],
                        lists.begin() + static_cast<std::ptrdiff_t>(begin[i]));
            next += n_categories[i];
        }
        return lists;
    }
};

}  // namespace puforest
