// Growth of a forest on rows that are elsewhere, in several parts, from merged statistics of them.
//
// In each pass over the parts, every open node gets the statistics that it needs next: the ranges
// of the features it draws, then the rows to the left of its thresholds. Nodes do not wait for each
// other, so a level takes two passes, or three for nodes where a feature turns out to be constant.
// Small nodes are handed over: `train_subtrees` grows their subtrees in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/merged.hpp"
#include "puforest/monotone.hpp"
#include "puforest/params.hpp"
#include "puforest/train.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The statistics that open nodes need: ranges [range_begin[i], range_begin[i + 1]) for node i, and
// counts likewise.
struct Request {
    std::vector<std::uint32_t> tree;
    std::vector<NodeId> node;
    std::vector<std::uint32_t> range_begin{0};
    std::vector<FeatureId> range_feature;
    std::vector<std::uint32_t> count_begin{0};
    std::vector<FeatureId> count_feature;
    std::vector<double> count_threshold;
};

// Answer to a request. Pairs of counts are labeled and unlabeled rows.
template <template <class> class Array>
struct Answer {
    // By range; low is above high if all values are missing.
    Array<double> low;
    Array<double> high;
    Array<std::uint32_t> missing;  // pairs
    // By count: pairs of rows of at most the threshold.
    Array<std::uint32_t> left;
    // All values of features whose rows are counted by value, in ascending order of ranges and
    // values.
    Array<std::uint32_t> bin_range;
    Array<double> bin_value;
    Array<std::uint32_t> bin_rows;  // pairs
};

// Whether rows are counted by value: categories, or all values of optimal splits.
inline std::vector<bool> counted_by_value(const TrainParams& params, std::size_t n_features) {
    std::vector<bool> counted(n_features, params.thresholds == Thresholds::Optimal);
    for (const FeatureId feature : params.categorical_features) counted.at(feature) = true;
    return counted;
}

struct HandedOver {
    std::uint32_t tree;
    NodeId node;
    Subtree subtree;
};

class LevelGrowth {
public:
    // Trees of all rows, which are `total` and have the same weight within their group. Nodes of
    // at most `hand_over` rows are handed over.
    LevelGrowth(const TrainParams& params, std::size_t n_features, const Counts& total,
                std::uint32_t hand_over);

    std::size_t n_open() const { return open_.size(); }
    Request request() const;

    // Continue with the answer to the request.
    void advance(const Answer<SpanOf>& answer);

    // The trees down to the open nodes, and those handed over. Nodes are in order of creation.
    std::vector<Tree> trees() const;
    const std::vector<HandedOver>& handed_over() const { return handed_over_; }
    const MassFactors& factors() const { return factors_; }

private:
    using Features = std::shared_ptr<const std::vector<FeatureId>>;

    struct OpenNode {
        std::uint32_t tree;
        NodeId id;
        Counts total;
        Bounds bounds;
        std::uint64_t key;
        std::uint32_t depth;
        Features features;
        std::vector<MergedFeature> known = {};
        Needs needs = {};
    };

    template <class Search>
    void open(OpenNode node, Search& search);
    template <class Search>
    void find_split(OpenNode node, Search& search);
    template <class Search>
    void expand(const OpenNode& node, const Split& split, Search& search);
    std::vector<FeatureId> ranges_to_ask_for(const OpenNode& node, const Needs& needs) const;
    void take_answer(OpenNode& node, std::size_t i, const Request& request,
                     const Answer<SpanOf>& answer, std::size_t& bin) const;

    const TrainParams params_;
    const std::vector<bool> categorical_;
    const Monotone monotone_;
    const MassFactors factors_;
    const std::uint32_t hand_over_;
    std::vector<PackedTree<Counts>> trees_;
    std::vector<OpenNode> open_;
    std::vector<HandedOver> handed_over_;
};

}  // namespace puforest
