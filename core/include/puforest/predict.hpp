// Answers of a grown forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The arrays of a model, one after another for all trees, as Python keeps them.
struct ForestArrays {
    std::span<const std::int64_t> offset;  // tree t has the nodes [offset[t], offset[t + 1])
    std::span<const std::int32_t> feature;
    std::span<const double> threshold;
    std::span<const NodeId> left;
    std::span<const double> value;  // the answer of each node, in [0, 1]
};

// A forest packed for prediction: 16 bytes a node.
class Predictor {
public:
    // Checks everything that prediction relies on, so that no array, however it came about,
    // makes it read out of bounds or run in circles; throws std::invalid_argument.
    Predictor(const ForestArrays& forest, std::uint32_t n_features);

    std::size_t n_trees() const { return root_.size(); }
    std::uint32_t n_features() const { return n_features_; }

    // out[i] = mean answer of the trees for row i, added up in the order of the trees.
    template <class Real>
    void mean(const Matrix<Real>& x, double* out, unsigned n_threads, const Poll& poll) const;

    // out[i * n_trees + t] = index of the leaf of tree t that row i falls into.
    template <class Real>
    void leaves(const Matrix<Real>& x, std::int32_t* out, unsigned n_threads,
                const Poll& poll) const;

    // out[i] = mean answer for row i of the trees that did not see it while growing; NaN where
    // all did. `order`, `n_labelled` and the sampling are those of the fit.
    template <class Real>
    void mean_held_out(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labelled,
                       const TrainParams& params, double* out, const Poll& poll) const;

private:
    struct Node {
        double threshold;  // in a leaf: its answer
        std::int32_t feature;
        NodeId left;  // index within the tree
    };

    // Call use(k, leaf) for the k-th of `rows`, in any order.
    template <class Real, class Rows, class Use>
    void for_each_leaf(std::size_t tree, const Matrix<Real>& x, const Rows& rows,
                       const StopFlag& stop, Use&& use) const;

    std::uint32_t n_features_;
    std::vector<Node> node_;
    std::vector<std::size_t> root_;
    std::size_t steps_per_row_ = 0;  // at most: the depths of all trees
};

}  // namespace puforest
