// Monotone constraints: the posterior W_p / W_u must not decrease (or increase) in a feature.
//
// Every node has bounds on the ratio W_p / W_u, and a split is allowed if the ratios of both
// children are within those of the node. A threshold of a constrained feature must also put the
// children in order; the subtree of the lower one is then bounded from above by the midpoint of the
// two ratios, and that of the other from below. Two samples that differ only in the feature part at
// such a threshold, if at all, so their leaves are in order. The bounds hold for the unclipped
// ratios, and another class prior is an increasing function of them, so that it keeps the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

inline double ratio(const NodeMasses& masses) {
    return masses.w_u > 0 ? masses.w_p / masses.w_u : std::numeric_limits<double>::infinity();
}

struct Bounds {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();

    bool contain(double v) const { return low <= v && v <= high; }
};

// Whether children of these ratios are allowed within the bounds of their parent, if the feature
// they are split on has this direction.
inline bool allows(const Bounds& bounds, int direction, double at_left, double at_right) {
    return bounds.contain(at_left) && bounds.contain(at_right) &&
           !(direction > 0 && at_left > at_right) && !(direction < 0 && at_left < at_right);
}

class Monotone {
public:
    Monotone(const TrainParams& params, std::size_t n_features) {
        if (params.increasing_features.empty() && params.decreasing_features.empty()) return;
        direction_.resize(n_features);
        for (const FeatureId feature : params.increasing_features) direction_.at(feature) = 1;
        for (const FeatureId feature : params.decreasing_features) direction_.at(feature) = -1;
    }

    bool any() const { return !direction_.empty(); }

    // 1 if the posterior must not decrease in the feature, -1 if it must not increase, else 0.
    int direction(FeatureId feature) const { return any() ? direction_[feature] : 0; }

private:
    std::vector<std::int8_t> direction_;  // by feature; empty without constraints
};

// Between the ratios of two children, of which `low` is the lower.
inline double midpoint(double low, double high) {
    return high < std::numeric_limits<double>::infinity() ? low + (high - low) / 2 : low;
}

struct ChildBounds {
    Bounds left;
    Bounds right;
};

// The bounds of the subtrees of two children of these ratios, or nothing if they are not allowed.
inline std::optional<ChildBounds> bound_children(const Bounds& bounds, int direction,
                                                 double at_left, double at_right) {
    if (!allows(bounds, direction, at_left, at_right)) return std::nullopt;
    ChildBounds children{bounds, bounds};
    if (direction > 0) children.left.high = children.right.low = midpoint(at_left, at_right);
    if (direction < 0) children.left.low = children.right.high = midpoint(at_right, at_left);
    return children;
}

}  // namespace puforest
