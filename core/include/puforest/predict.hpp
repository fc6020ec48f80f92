// Predictions of a fitted forest.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "puforest/category_sets.hpp"
#include "puforest/memory.hpp"
#include "puforest/node_fields.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/row_blocks.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The arrays of a fitted forest, over the nodes of all trees.
struct ForestArrays : NodeSpans {
    std::span<const std::int64_t> offset;    // tree t has the nodes [offset[t], offset[t + 1])
    std::span<const CategoryId> categories;  // lists of the nodes, one after another
    std::span<const double> value;           // prediction of each node as a leaf, in [0, 1]
};

template <class Real>
using AnyMatrix = std::variant<Matrix<Real>, SparseMatrix<Real>>;

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

    // X has n_features() columns. out[i] = mean leaf value of row i over the trees, summed in the
    // order of the trees.
    void mean(const AnyMatrix<Real>& x, double* out, unsigned n_threads, const Poll& poll) const;

    // out[i * n_trees + t] = index of the leaf of tree t that row i reaches.
    void leaves(const AnyMatrix<Real>& x, std::int32_t* out, unsigned n_threads,
                const Poll& poll) const;

    // out[i] = mean leaf value of row i over the trees that were not trained on it or, with folds,
    // that left out its fold; NaN if there are none. The rows and the sampling are those of the
    // fit.
    void mean_held_out(const AnyMatrix<Real>& x, const FitRows& rows, const TrainParams& params,
                       double* out, const Poll& poll) const;

    // out[i * points.rows + p] = what `mean` returns for row i if the features `varied` have the
    // values of row p of `points`, which has a column for each of them.
    void mean_at(const AnyMatrix<Real>& x, std::span<const FeatureId> varied,
                 const Matrix<Real>& points, double* out, unsigned n_threads,
                 const Poll& poll) const;

private:
    // What a walk has to handle: nodes that send NaN right; nodes that send it to either side; and
    // categorical nodes, too.
    enum class Splits { Plain, Missing, Categorical };

    // From its low bits up, the word holds whether the left child is a leaf, whether the right
    // child is, whether missing values go left, whether the split is categorical, the distance to
    // the left child in nodes, and the feature. At a categorical split, the first bytes of the
    // threshold hold the number of its set. A leaf, recognized by the bits of its parent, holds its
    // value, a double, in place of all this.
    template <class Word>
    struct Node {
        Real threshold;
        Word split;
    };
    static constexpr std::uint32_t kMissingLeft = 2;  // positions of bits
    static constexpr std::uint32_t kCategorical = 3;
    static constexpr std::uint32_t kFlags = 4;  // number of bits below the distance

    struct Walks;

    // Throws unless the features, children and thresholds of tree t are valid. Returns the largest
    // distance between a node and its left child.
    NodeId check_tree(const ForestArrays& forest, std::size_t t);
    template <class Word>
    void pack(const ForestArrays& forest);

    // Call use(block, stop) for blocks of all rows of x, or of the rows `order` if it is not null.
    void for_each_block(
        const AnyMatrix<Real>& x, std::size_t n_rows, const Row* order, unsigned n_threads,
        const Poll& poll,
        const std::function<void(const RowBlock<Real>&, const StopFlag&)>& use) const;

    // For each tree t, call use(t, k, leaf, value) for those rows k of the block for which
    // enters(t, k) holds.
    template <class Enters, class Use>
    void for_each_leaf(const RowBlock<Real>& block, const StopFlag& stop, const Enters& enters,
                       const Use& use) const;
    void walk(Splits splits, Walks& walks, const StopFlag& stop) const;
    template <Splits kSplits, class Word>
    void walk_nodes(Walks& walks, const StopFlag& stop) const;
    template <Splits kSplits, class Word>
    std::size_t goes_right(const Node<Word>& node, Real x) const;
    template <class Word>
    std::size_t step_to_left(const Node<Word>& node) const {
        return node.split >> kFlags & ((Word{1} << step_bits_) - 1);
    }
    template <class Word>
    std::size_t feature(const Node<Word>& node) const {
        return node.split >> (kFlags + step_bits_);
    }

    struct Variation;
    template <class Word>
    void set_sides(const Matrix<Real>& points, std::size_t first, Variation& variation) const;
    template <class Word>
    void sum_at(const RowBlock<Real>& block, std::size_t first_row, std::size_t n_rows,
                const Variation& variation, double* sum, const StopFlag& stop) const;

    std::size_t node_bytes() const;

    std::uint32_t n_features_;
    std::size_t n_nodes_;
    Memory nodes_;
    CategorySets sets_;
    Splits splits_ = Splits::Plain;
    bool small_nodes_ = false;     // Node<std::uint32_t>, else Node<std::uint64_t>
    std::uint32_t step_bits_ = 0;  // bits of the distance to the left child in a word
    std::vector<std::size_t> root_;
    std::vector<bool> root_is_leaf_;
    std::size_t steps_per_row_ = 0;  // upper bound: the sum of the depths of all trees
};

template <class Real>
template <typename Predictor<Real>::Splits kSplits, class Word>
std::size_t Predictor<Real>::goes_right(const Node<Word>& node, Real x) const {
    const bool right = !(x <= node.threshold);
    if constexpr (kSplits == Splits::Plain) return right;
    const bool missing_left = node.split >> kMissingLeft & 1;
    if constexpr (kSplits == Splits::Categorical) {
        if (node.split >> kCategorical & 1) {
            CategorySets::SetId set;
            std::memcpy(&set, &node.threshold, sizeof(set));
            return sets_.contains(set, x) == missing_left;
        }
    }
    return right & !(missing_left & std::isnan(x));
}

}  // namespace puforest
