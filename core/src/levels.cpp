#include "puforest/levels.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "puforest/choose.hpp"
#include "puforest/rng.hpp"
#include "puforest/splitter.hpp"
#include "with_risk.hpp"

namespace puforest {
namespace {

// A node that found constant features asks for the ranges of all others, up to this many, rather
// than go on one pass for each.
constexpr std::size_t kMostRanges = 1024;

template <class OfRisk>
struct SearchOf {
    using Risk = OfRisk;

    SearchOf(const SplitContext& c, const std::vector<bool>& categorical)
        : context(c), splitter(context, categorical) {}

    const SplitContext context;
    Splitter<Risk, Counts, MergedScan> splitter;
    std::vector<FeatureId> features;
    const StopFlag stop{false};
};

std::vector<bool> is_categorical(const TrainParams& params, std::size_t n_features) {
    std::vector<bool> categorical(n_features);
    for (const FeatureId feature : params.categorical_features) categorical.at(feature) = true;
    return categorical;
}

Counts pair_at(std::span<const std::uint32_t> pairs, std::size_t i) {
    return {pairs[2 * i], pairs[2 * i + 1]};
}

// The rows to the left of a split.
Counts rows_to_the_left(const MergedFeature& known, const Split& split, const Counts& total) {
    Counts left;
    if (!split.categories.empty()) {
        const auto listed = std::span(split.categories).first(split.n_left);
        for (const auto& [value, rows] : known.bins) {
            if (std::ranges::find(listed, static_cast<Code>(value)) != listed.end()) left += rows;
        }
    } else if (std::isinf(split.threshold)) {
        left = total.rest(known.missing);
    } else if (known.bins.empty()) {
        left = known.left[split.code];
    } else {
        for (const auto& [value, rows] : std::span(known.bins).first(split.code + 1)) left += rows;
    }
    if (split.missing == MissingSide::Left) left += known.missing;
    return left;
}

}  // namespace

LevelGrowth::LevelGrowth(const TrainParams& params, std::size_t n_features, const Counts& total,
                         std::uint32_t hand_over)
    : params_(params),
      categorical_(is_categorical(params, n_features)),
      monotone_(params, n_features),
      factors_(total.factors(params.masses)),
      hand_over_(hand_over),
      trees_(params.n_trees) {
    if (params.max_leaf_nodes > 0) {
        throw std::invalid_argument("trees with max_leaf_nodes cannot grow level by level");
    }
    auto all = std::make_shared<std::vector<FeatureId>>(n_features);
    std::iota(all->begin(), all->end(), FeatureId{0});
    with_risk(params_, [&]<class Risk>(std::type_identity<Risk>) {
        SearchOf<Risk> search({params_, monotone_, factors_}, categorical_);
        for (std::uint32_t t = 0; t < params_.n_trees; ++t) {
            trees_[t].factors = factors_;
            const NodeId root = trees_[t].add(total);
            const std::uint64_t key = tree_key(params_.seed, params_.first_tree + t);
            open({t, root, total, {}, derive(key, kLeft), 0, all}, search);
        }
    });
}

Request LevelGrowth::request() const {
    Request request;
    for (const OpenNode& node : open_) {
        request.tree.push_back(node.tree);
        request.node.push_back(node.id);
        const auto& [ranges, counts] = node.needs;
        request.range_feature.insert(request.range_feature.end(), ranges.begin(), ranges.end());
        for (const auto& [feature, threshold] : counts) {
            request.count_feature.push_back(feature);
            request.count_threshold.push_back(threshold);
        }
        request.range_begin.push_back(static_cast<std::uint32_t>(request.range_feature.size()));
        request.count_begin.push_back(static_cast<std::uint32_t>(request.count_feature.size()));
    }
    return request;
}

void LevelGrowth::advance(const Answer<SpanOf>& answer) {
    const Request asked = request();
    const std::size_t n_ranges = asked.range_feature.size();
    if (answer.low.size() != n_ranges || answer.high.size() != n_ranges ||
        answer.missing.size() != 2 * n_ranges ||
        answer.left.size() != 2 * asked.count_feature.size() ||
        answer.bin_value.size() != answer.bin_range.size() ||
        answer.bin_rows.size() != 2 * answer.bin_range.size()) {
        throw std::invalid_argument("the answer does not match the request");
    }
    std::vector<OpenNode> nodes = std::exchange(open_, {});
    std::size_t bin = 0;
    with_risk(params_, [&]<class Risk>(std::type_identity<Risk>) {
        SearchOf<Risk> search({params_, monotone_, factors_}, categorical_);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            take_answer(nodes[i], i, asked, answer, bin);
            find_split(std::move(nodes[i]), search);
        }
    });
}

// `bin` is the next bin of the answer.
void LevelGrowth::take_answer(OpenNode& node, std::size_t i, const Request& request,
                              const Answer<SpanOf>& answer, std::size_t& bin) const {
    for (std::size_t r = request.range_begin[i]; r < request.range_begin[i + 1]; ++r) {
        MergedFeature known{request.range_feature[r], answer.low[r], answer.high[r],
                            pair_at(answer.missing, r)};
        for (; bin < answer.bin_range.size() && answer.bin_range[bin] == r; ++bin) {
            known.bins.push_back({answer.bin_value[bin], pair_at(answer.bin_rows, bin)});
        }
        node.known.push_back(std::move(known));
    }
    for (std::size_t c = request.count_begin[i]; c < request.count_begin[i + 1]; ++c) {
        const auto known =
            std::ranges::find(node.known, request.count_feature[c], &MergedFeature::feature);
        known->left.push_back(pair_at(answer.left, c));
    }
}

template <class Search>
void LevelGrowth::open(OpenNode node, Search& search) {
    const std::uint32_t n = node.total.rows();
    if (!may_split<typename Search::Risk>(params_, n, node.depth, node.total.masses(factors_))) {
        return;
    }
    if (n <= hand_over_) {
        handed_over_.push_back(
            {node.tree, node.id, {node.key, node.depth, node.bounds, node.total, *node.features}});
    } else {
        find_split(std::move(node), search);
    }
}

// Split the node, make it a leaf, or leave it open until its needs are met.
template <class Search>
void LevelGrowth::find_split(OpenNode node, Search& search) {
    search.features = *node.features;
    const Split* const split = search.splitter.find(node.known, node.total, node.bounds,
                                                    search.features, node.key, search.stop);
    node.needs = search.splitter.scan().needs();
    if (!node.needs.ranges.empty()) {
        node.needs = {ranges_to_ask_for(node, node.needs), {}};
        open_.push_back(std::move(node));
    } else if (!node.needs.counts.empty()) {
        open_.push_back(std::move(node));
    } else if (split) {
        const auto constants = search.splitter.constants();
        if (!constants.empty()) {
            std::erase_if(search.features, [&](FeatureId f) {
                return std::ranges::find(constants, f) != constants.end();
            });
            node.features = std::make_shared<const std::vector<FeatureId>>(search.features);
        }
        expand(node, Split(*split), search);
    }
}

std::vector<FeatureId> LevelGrowth::ranges_to_ask_for(const OpenNode& node,
                                                      const Needs& needs) const {
    if (node.known.empty() || node.features->size() - node.known.size() > kMostRanges) {
        return needs.ranges;
    }
    std::vector<FeatureId> unknown;
    for (const FeatureId f : *node.features) {
        if (std::ranges::find(node.known, f, &MergedFeature::feature) == node.known.end()) {
            unknown.push_back(f);
        }
    }
    return unknown;
}

template <class Search>
void LevelGrowth::expand(const OpenNode& node, const Split& split, Search& search) {
    const auto& known = *std::ranges::find(node.known, split.feature, &MergedFeature::feature);
    const Counts left = rows_to_the_left(known, split, node.total);
    const Counts right = node.total.rest(left);
    const NodeMasses left_masses = left.masses(factors_);
    const NodeMasses right_masses = right.masses(factors_);
    const auto bounds = bound_children(node.bounds, direction_of(split, monotone_),
                                       ratio(left_masses), ratio(right_masses));
    if (monotone_.any() && !bounds) return;
    PackedTree<Counts>& tree = trees_[node.tree];
    const NodeId left_id = tree.add(left);
    const NodeId right_id = tree.add(right);
    Needs none;
    tree.add_split(node.id, split,
                   MergedColumn(split.feature, &known, categorical_[split.feature], none),
                   missing_goes_left(split.missing, left_masses, right_masses));
    const auto child = [&](NodeId id, const Counts& total, const Bounds& of_child,
                           std::uint64_t branch) {
        open({node.tree, id, total, monotone_.any() ? of_child : Bounds{}, derive(node.key, branch),
              node.depth + 1, node.features},
             search);
    };
    child(left_id, left, bounds ? bounds->left : Bounds{}, kLeft);
    child(right_id, right, bounds ? bounds->right : Bounds{}, kRight);
}

std::vector<Tree> LevelGrowth::trees() const {
    std::vector<Tree> trees;
    for (const PackedTree<Counts>& tree : trees_) trees.push_back(tree.unpack());
    return trees;
}

}  // namespace puforest
