// Growing one tree.
//
// Depth-first, or best-first: always the open leaf whose split reduces the risk most, until
// there are max_leaf_nodes leaves. The split of a node depends only on its rows and its key, so
// both orders choose the same splits, and a best-first tree is a subtree of the full one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "puforest/choose.hpp"
#include "puforest/columns.hpp"
#include "puforest/compiler.hpp"
#include "puforest/masses.hpp"
#include "puforest/monotone.hpp"
#include "puforest/params.hpp"
#include "puforest/partition.hpp"
#include "puforest/rng.hpp"
#include "puforest/sampling.hpp"
#include "puforest/splitter.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

// Shared by all trees of a fit.
struct Growth {
    const Columns& columns;
    const FitRows& rows;
    WorksetPool& pool;
    const Monotone& monotone;
    const TrainParams& params;
};

// The node that a tree, or a subtree of one, starts from.
struct Start {
    std::uint64_t key;
    std::vector<FeatureId> features;  // those not known to be constant
    Sample sample;
    std::uint32_t depth = 0;
    Bounds bounds = {};
    std::optional<MassFactors> factors = {};  // of the whole tree, if this is a subtree
};

template <class Risk, class Stats>
class Builder {
public:
    Builder(const Growth& growth, Start start, const StopFlag& stop)
        : pool_(growth.pool),
          sets_(pool_.take()),
          params_(growth.params),
          stop_(stop),
          columns_(growth.columns),
          start_(std::move(start)),
          root_rows_{std::span(start_.sample.rows).first(start_.sample.n_labeled),
                     std::span(start_.sample.rows).subspan(start_.sample.n_labeled)},
          root_total_(weigh(root_rows_, 0)),
          context_{params_, growth.monotone,
                   start_.factors ? *start_.factors : root_total_.factors(params_.masses)},
          splitter_(context_, columns_),
          features_(start_.features),
          is_constant_(columns_.column.size()) {
        if (context_.monotone.any()) bounds_.push_back(start_.bounds);
    }
    ~Builder() { pool_.give_back(std::move(sets_)); }
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    // Return the tree, or an unfinished part of it if stopped. Call it once.
    PackedTree<Stats> grow() {
        tree_.factors = context_.factors;
        const NodeId root = tree_.add(root_total_);
        open({root_rows_, root_total_, {0, features_.size()}, start_.key, start_.depth, root, 0});
        if (params_.max_leaf_nodes > 0) {
            grow_best_first();
        } else {
            grow_depth_first();
        }
        tree_.total.shrink_to_fit();
        tree_.splits.shrink_to_fit();
        tree_.categories.shrink_to_fit();
        return std::move(tree_);
    }

private:
    // A range of features_: those not known to be constant at a node.
    struct FeatureList {
        std::size_t first;
        std::size_t size;
    };

    struct Node {
        NodeRows rows;
        Stats total;
        FeatureList features;
        std::uint64_t key;
        std::uint32_t depth;
        NodeId id;
        std::uint32_t set;  // index into sets_; the rows are positions in that set
    };

    struct OpenLeaf {
        Node node;
        Split split;

        bool operator<(const OpenLeaf& other) const {
            if (split.reduction != other.split.reduction) {
                return split.reduction < other.split.reduction;
            }
            return node.id > other.node.id;
        }
    };

    void open(Node node) {
        if (params_.max_leaf_nodes == 0) {
            stack_.push_back(node);
        } else if (const Split* const split = find_split(node)) {
            heap_.push({node, *split});
        }
    }

    bool stopped() const { return stop_.load(std::memory_order_relaxed); }

    void grow_depth_first() {
        while (!stack_.empty() && !stopped()) {
            Node node = stack_.back();
            stack_.pop_back();
            // Lists after that of this node belong to finished subtrees.
            features_.resize(node.features.first + node.features.size);
            if (const Split* const split = find_split(node)) expand(node, *split);
        }
    }

    void grow_best_first() {
        for (std::uint32_t leaves = 1; leaves < params_.max_leaf_nodes;) {
            if (heap_.empty() || stopped()) return;
            const OpenLeaf best = heap_.top();
            heap_.pop();
            leaves += expand(best.node, best.split);
        }
    }

    // The split is valid until the next search. Also narrows node.features to those that may still
    // vary below it.
    const Split* find_split(Node& node) {
        const NodeMasses masses = node.total.masses(context_.factors);
        if (!may_split<Risk>(params_, node.rows.size(), node.depth, masses)) return nullptr;
        if (params_.max_leaf_nodes == 0) copy_rows(node);
        const auto features = std::span(features_).subspan(node.features.first, node.features.size);
        const Split* const split = splitter_.find({*sets_[node.set], node.rows}, node.total,
                                                  bounds_of(node.id), features, node.key, stop_);
        if (split && !splitter_.constants().empty())
            node.features = without_constants(node.features);
        return split;
    }

    // Copy the rows of a node that is much smaller than the set it reads from, for its subtree.
    // Sets after that of the node belong to finished subtrees: growth must be depth-first.
    void copy_rows(Node& node) {
        const Workset& from = *sets_[node.set];
        if (!pool_.worth_copying(from, node.rows.size())) return;
        if (sets_.size() == ++node.set) pool_.add(sets_);
        sets_[node.set]->copy(from, node.rows);
    }

    // Append a copy of the list, in the same order, without the features just found constant.
    FeatureList without_constants(FeatureList list) {
        for (const FeatureId f : splitter_.constants()) is_constant_[f] = true;
        const FeatureList shorter{features_.size(), list.size - splitter_.constants().size()};
        features_.resize(shorter.first + shorter.size);
        std::copy_if(features_.begin() + list.first, features_.begin() + list.first + list.size,
                     features_.begin() + shorter.first,
                     [&](FeatureId f) { return !is_constant_[f]; });
        for (const FeatureId f : splitter_.constants()) is_constant_[f] = false;
        return shorter;
    }

    // Return false if the node stays a leaf.
    bool expand(const Node& node, const Split& split) {
        const Column& column = columns_.column[split.feature];
        const auto [left, right] = partition_.apply(*sets_[node.set], node.rows, column, split);
        const Stats left_total = weigh(left, node.set);
        const Stats right_total = weigh(right, node.set);
        const NodeMasses left_masses = left_total.masses(context_.factors);
        const NodeMasses right_masses = right_total.masses(context_.factors);
        if (context_.monotone.any() &&
            !add_bounds(node.id, split, ratio(left_masses), ratio(right_masses))) {
            return false;
        }
        const NodeId left_id = tree_.add(left_total);
        const NodeId right_id = tree_.add(right_total);
        tree_.add_split(node.id, split, column,
                        missing_goes_left(split.missing, left_masses, right_masses));
        // The right child waits on the stack while the left one grows.
        open({right, right_total, node.features, derive(node.key, kRight), node.depth + 1, right_id,
              node.set});
        open({left, left_total, node.features, derive(node.key, kLeft), node.depth + 1, left_id,
              node.set});
        return true;
    }

    Bounds bounds_of(NodeId node) const {
        return bounds_.empty() ? Bounds{} : bounds_[static_cast<std::size_t>(node)];
    }

    // Append the bounds of the subtrees of both children, given their ratios W_p / W_u. Returns
    // false if they are out of order after all: the search may round sums of weights differently.
    PUFOREST_RARE bool add_bounds(NodeId node, const Split& split, double at_left,
                                  double at_right) {
        const auto children = bound_children(
            bounds_of(node), direction_of(split, context_.monotone), at_left, at_right);
        if (!children) return false;
        bounds_.insert(bounds_.end(), {children->left, children->right});
        return true;
    }

    Stats weigh(const NodeRows& rows, std::uint32_t set) const {
        if constexpr (std::is_same_v<Stats, Counts>) {
            return {static_cast<std::uint32_t>(rows.labeled.size()),
                    static_cast<std::uint32_t>(rows.unlabeled.size())};
        } else {
            Stats total;
            const RowWeights& weights = sets_[set]->weights();
            for (const Row row : rows.labeled) total.add(row, true, weights);
            for (const Row row : rows.unlabeled) total.add(row, false, weights);
            return total;
        }
    }

    WorksetPool& pool_;
    Worksets sets_;
    const TrainParams& params_;
    const StopFlag& stop_;
    const Columns& columns_;
    Start start_;
    const NodeRows root_rows_;
    const Stats root_total_;
    const SplitContext context_;
    Splitter<Risk, Stats> splitter_;
    Partition partition_;
    std::vector<FeatureId> features_;
    std::vector<bool> is_constant_;
    std::vector<Node> stack_;
    std::priority_queue<OpenLeaf> heap_;
    PackedTree<Stats> tree_;
    std::vector<Bounds> bounds_;  // of each node; empty without constraints
};

}  // namespace puforest
