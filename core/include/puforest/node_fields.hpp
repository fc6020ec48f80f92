// The fields of a node: one table, read by everything that handles whole trees.
//
// To add a field, add a line to the table and compute it in `PackedTree::unpack` (tree.hpp). The
// trees of the core, the arrays and attributes of the Python module with their types and docs, and
// the checks of model files follow. docs/model-files.md repeats the table; a test compares them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

inline constexpr std::int32_t kLeaf = -1;

// In place of the value in leaves: the value at a node is the sum of its children's.
inline constexpr std::nullopt_t kSum = std::nullopt;

// clang-format off
// FIELD(type, name, value in leaves, meaning)
#define PUFOREST_NODE_FIELDS(FIELD)                                                               \
    FIELD(std::int32_t, feature, kLeaf, "Feature to split on, an index of a column of X.")        \
    FIELD(double, threshold, 0, "Samples with `x <= threshold` go left, larger values right. "    \
          "Finite; infinity if only missing values go right; 0 if the feature is categorical.")   \
    FIELD(std::uint8_t, missing_left, 0, "1 if missing values go left, 0 if they go right.")      \
    FIELD(std::int32_t, n_categories, 0, "Number of categories listed for the node; 0 if the "    \
          "feature is not categorical. Samples of a listed category go to the side opposite "     \
          "that of missing values, all others to the same side.")                                 \
    FIELD(NodeId, left, kLeaf, "Left child, as an index within the tree, greater than that of "   \
          "its parent. The right child is `left + 1`.")                                           \
    FIELD(double, w_p, kSum, "Mass W_p: estimated probability that a sample reaches the node "    \
          "and is positive. `prior` at roots, unless some rows were checked.")                    \
    FIELD(double, w_u, kSum, "Mass W_u: estimated probability that a sample reaches the node. "   \
          "1 at roots.")                                                                          \
    FIELD(std::int32_t, n_labeled, kSum, "Labeled training samples (positives, if supervised).")  \
    FIELD(std::int32_t, n_unlabeled, kSum, "Unlabeled training samples (negatives, if "           \
          "supervised).")
// clang-format on

// The fields as arrays of some kind, over the nodes of one tree or of all trees of a forest.
template <template <class> class Array>
struct NodeFields {
#define PUFOREST_FIELD(type, name, in_leaves, meaning) Array<type> name;
    PUFOREST_NODE_FIELDS(PUFOREST_FIELD)
#undef PUFOREST_FIELD

    bool operator==(const NodeFields&) const = default;
};

template <class T>
using VectorOf = std::vector<T>;
template <class T>
using SpanOf = std::span<const T>;
using NodeVectors = NodeFields<VectorOf>;
using NodeSpans = NodeFields<SpanOf>;

template <class T>
struct NodeField {
    const char* name;
    std::optional<T> in_leaves;
    const char* meaning;
};

// Call use(field, get) for each field, where get(nodes) is its array in any NodeFields.
template <class Use>
void for_each_node_field(Use&& use) {
#define PUFOREST_FIELD(type, name, in_leaves, meaning) \
    use(NodeField<type>{#name, in_leaves, meaning},    \
        [](auto& nodes) -> auto& { return nodes.name; });
    PUFOREST_NODE_FIELDS(PUFOREST_FIELD)
#undef PUFOREST_FIELD
}

}  // namespace puforest
