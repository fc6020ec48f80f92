// Training of a forest.
#pragma once

#include <vector>

#include "puforest/columns.hpp"
#include "puforest/masses.hpp"
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

}  // namespace puforest
