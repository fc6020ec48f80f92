// From the enums of the parameters to the type of the risk.
#pragma once

#include <stdexcept>
#include <type_traits>

#include "puforest/params.hpp"
#include "puforest/risk.hpp"

namespace puforest {

// Return use(std::type_identity<NodeRisk<...>>()).
template <class Use>
decltype(auto) with_risk(const TrainParams& params, Use&& use) {
    const auto with_loss = [&]<class OfLoss>(std::type_identity<OfLoss>) -> decltype(auto) {
        if (params.risk == Risk::uPU) return use(std::type_identity<NodeRisk<OfLoss, false>>());
        return use(std::type_identity<NodeRisk<OfLoss, true>>());
    };
    switch (params.loss) {
        case Loss::Quadratic: return with_loss(std::type_identity<QuadraticLoss>());
        case Loss::Logistic: return with_loss(std::type_identity<LogisticLoss>());
        case Loss::Savage: return with_loss(std::type_identity<SavageLoss>());
        case Loss::Sigmoid: return with_loss(std::type_identity<SigmoidLoss>());
        case Loss::ZeroOne: return with_loss(std::type_identity<ZeroOneLoss>());
        case Loss::Ramp: return with_loss(std::type_identity<RampLoss>());
        case Loss::Hinge: return with_loss(std::type_identity<HingeLoss>());
        case Loss::DoubleHinge: return with_loss(std::type_identity<DoubleHingeLoss>());
        case Loss::Exponential: return with_loss(std::type_identity<ExponentialLoss>());
    }
    throw std::invalid_argument("unknown loss");
}

}  // namespace puforest
