// A grown tree: parallel arrays over its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

struct Tree {
    static constexpr std::int32_t kLeaf = -1;

    std::vector<std::int32_t> feature;  // split feature, or kLeaf
    std::vector<double> threshold;      // x <= threshold goes left; 0 in a leaf
    std::vector<NodeId> left;           // left child, right = left + 1; kLeaf in a leaf
    std::vector<double> w_p, w_u;       // masses
    std::vector<std::int32_t> n_labelled, n_unlabelled;

    NodeId size() const { return static_cast<NodeId>(feature.size()); }
};

}  // namespace puforest
