// Training of a forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "puforest/columns.hpp"
#include "puforest/masses.hpp"
#include "puforest/monotone.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Train on rows of `x`, a Matrix or a SparseMatrix; `weights` are indexed by position. Throws
// std::invalid_argument if the sizes do not match, and std::out_of_range if a parameter names a
// feature that `x` does not have.
template <class Table>
std::vector<Tree> train(const Table& x, const FitRows& rows, const RowWeights& weights,
                        const TrainParams& params, const Poll& poll);

// The same trees from the codes of these rows, which can be shared by several forests. Features are
// categorical if they were encoded so.
std::vector<Tree> train(const Columns& columns, const FitRows& rows, const RowWeights& weights,
                        const TrainParams& params, const Poll& poll);

// A node whose subtree is still to be grown.
struct Subtree {
    std::uint64_t key;
    std::uint32_t depth;
    Bounds bounds;
    Counts total;                     // of its rows
    std::vector<FeatureId> features;  // those not known to be constant
};

// Grow subtrees of trees whose rows all have the same weight within their group, on `rows` of `x`:
// the labeled rows of the first subtree, of the second, and so on, then the unlabeled rows
// likewise. `factors` are those of the whole trees. Each result is the tree of a subtree, whose
// root is its node 0.
template <class Table>
std::vector<Tree> train_subtrees(const Table& x, const FitRows& rows,
                                 std::span<const Subtree> subtrees, const MassFactors& factors,
                                 const TrainParams& params, const Poll& poll);

}  // namespace puforest
