// Predictions of a fitted forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "puforest/memory.hpp"
#include "puforest/node_fields.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The arrays of a fitted forest, over the nodes of all trees.
struct ForestArrays : NodeSpans {
    std::span<const std::int64_t> offset;    // tree t has the nodes [offset[t], offset[t + 1])
    std::span<const CategoryId> categories;  // lists of the nodes, one after another
    std::span<const double> value;           // prediction of each node as a leaf, in [0, 1]
};

// A forest packed for rows of floats or doubles: 8 bytes per node for floats, unless trees or rows
// are huge, and 16 for doubles.
template <class Real>
class Predictor {
public:
    // Validates everything that predictions rely on, so that arrays of any origin cannot cause
    // reads out of bounds or infinite loops; throws std::invalid_argument.
    Predictor(const ForestArrays& forest, std::uint32_t n_features);

    std::size_t n_trees() const { return root_.size(); }
    std::uint32_t n_features() const { return n_features_; }

    // out[i] = mean leaf value of row i over the trees, summed in the order of the trees.
    void mean(const Matrix<Real>& x, double* out, unsigned n_threads, const Poll& poll) const;

    // out[i * n_trees + t] = index of the leaf of tree t that row i reaches.
    void leaves(const Matrix<Real>& x, std::int32_t* out, unsigned n_threads,
                const Poll& poll) const;

    // out[i] = mean leaf value of row i over the trees that were not trained on it; NaN if all
    // were. `order`, `n_labeled` and the sampling are those of the fit.
    void mean_held_out(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labeled,
                       const TrainParams& params, double* out, const Poll& poll) const;

private:
    // From its low bits up, the word holds whether the left child is a leaf, whether the right
    // child is, the distance to the left child in nodes, and the feature. A leaf, recognized by the
    // bits of its parent, holds its value, a double, in place of all this.
    template <class Word>
    struct Node {
        Real threshold;
        Word split;
    };

    template <class Word>
    void pack(const ForestArrays& forest);

    // For each tree t, start(t, add) calls add(k, row) for the rows of a block to pass through that
    // tree; then use(t, k, leaf, value) is called for them, tree by tree.
    template <class Start, class Use>
    void for_each_leaf(const Matrix<Real>& x, const StopFlag& stop, Start&& start, Use&& use) const;
    template <class Word, class Start, class Use>
    void walk(std::size_t first_tree, std::size_t last_tree, const Matrix<Real>& x,
              const StopFlag& stop, Start& start, Use& use) const;

    std::size_t block_rows() const;

    std::uint32_t n_features_;
    Memory nodes_;
    bool small_nodes_ = false;     // Node<std::uint32_t>, else Node<std::uint64_t>
    std::uint32_t step_bits_ = 0;  // bits of the distance to the left child in a word
    std::vector<std::size_t> root_;
    std::vector<bool> root_is_leaf_;
    std::size_t steps_per_row_ = 0;  // upper bound: the sum of the depths of all trees
};

}  // namespace puforest
