// Dispatch from the enums of the parameters to the types of the builder.
//
// Compiled in a separate file for each kind of row statistics, in parallel.
#pragma once

#include <stdexcept>

#include "puforest/builder.hpp"
#include "puforest/columns.hpp"
#include "puforest/masses.hpp"
#include "puforest/monotone.hpp"
#include "puforest/params.hpp"
#include "puforest/risk.hpp"
#include "puforest/workset.hpp"

namespace puforest {

template <class Stats>
PackedTree<Stats> grow_tree(const Growth& growth, std::uint32_t tree, const StopFlag& stop);

template <class Loss, class Stats>
PackedTree<Stats> grow_with_loss(const Growth& g, std::uint32_t tree, const StopFlag& stop) {
    if (g.params.risk == Risk::uPU) {
        using Risk = NodeRisk<Loss, false>;
        return Builder<Risk, Stats>(g, tree, stop).grow();
    }
    using Risk = NodeRisk<Loss, true>;
    return Builder<Risk, Stats>(g, tree, stop).grow();
}

template <class Stats>
PackedTree<Stats> grow_tree(const Growth& g, std::uint32_t tree, const StopFlag& stop) {
    switch (g.params.loss) {
        case Loss::Quadratic: return grow_with_loss<QuadraticLoss, Stats>(g, tree, stop);
        case Loss::Logistic: return grow_with_loss<LogisticLoss, Stats>(g, tree, stop);
        case Loss::Savage: return grow_with_loss<SavageLoss, Stats>(g, tree, stop);
        case Loss::Sigmoid: return grow_with_loss<SigmoidLoss, Stats>(g, tree, stop);
        case Loss::ZeroOne: return grow_with_loss<ZeroOneLoss, Stats>(g, tree, stop);
        case Loss::Ramp: return grow_with_loss<RampLoss, Stats>(g, tree, stop);
        case Loss::Hinge: return grow_with_loss<HingeLoss, Stats>(g, tree, stop);
        case Loss::DoubleHinge: return grow_with_loss<DoubleHingeLoss, Stats>(g, tree, stop);
        case Loss::Exponential: return grow_with_loss<ExponentialLoss, Stats>(g, tree, stop);
    }
    throw std::invalid_argument("unknown loss");
}

extern template PackedTree<Counts> grow_tree<Counts>(const Growth&, std::uint32_t, const StopFlag&);
extern template PackedTree<Sums> grow_tree<Sums>(const Growth&, std::uint32_t, const StopFlag&);
extern template PackedTree<CheckedSums> grow_tree<CheckedSums>(const Growth&, std::uint32_t,
                                                               const StopFlag&);

}  // namespace puforest
