// Training of a forest.
#pragma once

#include <span>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Train on the rows `order` of `x`, a Matrix or a SparseMatrix, of which the first `n_labeled` are
// labeled; `weights` are indexed by position in `order`. Throws std::invalid_argument if the sizes
// do not match, and std::out_of_range if a parameter names a feature that `x` does not have.
template <class Table>
std::vector<Tree> train(const Table& x, std::span<const Row> order, std::uint32_t n_labeled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll);

}  // namespace puforest
