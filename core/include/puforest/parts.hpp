// Statistics of one part of the data, for the growth of a forest level by level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "puforest/levels.hpp"
#include "puforest/types.hpp"

namespace puforest {

// A request, and where the rows of its nodes are found.
struct PartRequest {
    std::span<const std::int64_t> offset;   // of the trees, by number
    std::span<const std::int32_t> node_at;  // open node at a leaf of the trees, or -1
    std::span<const std::uint32_t> range_begin;
    std::span<const FeatureId> range_feature;
    std::span<const std::uint32_t> count_begin;
    std::span<const FeatureId> count_feature;
    std::span<const double> count_threshold;
    std::vector<bool> counted_by_value;  // by feature
};

// `leaves[i * n_trees + t]` is the leaf of tree t that row i of `x` reaches. Throws
// std::invalid_argument if sizes do not match.
template <class Table>
Answer<VectorOf> scan_part(const Table& x, std::span<const std::uint8_t> labeled,
                           std::span<const std::int32_t> leaves, const PartRequest& request);

}  // namespace puforest
