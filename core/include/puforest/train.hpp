// The verb: grow a forest.
#pragma once

#include <span>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Rows `order` of `x`, the first `n_labeled` of them labeled; `weights` go by position in
// `order`. Throws std::invalid_argument where the sizes do not fit together.
template <class Real>
std::vector<Tree> train(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labeled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll);

}  // namespace puforest
