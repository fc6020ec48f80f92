// R*(W_p, W_n): the minimum risk of a node over constant predictions.
//
// A node of positive mass W_p and negative mass W_n = W_u - W_p that predicts v has the risk
//     R(v) = W_p l(v) + W_n l(-v)
// with l the loss as a function of the margin. R* = min over v, in closed form:
//   mixed(p, n)   for p > 0 and n > 0;
//   excess(p, n)  for n < 0, which occurs only with the unbiased estimator (uPU), if the labeled
//                 rows estimate more positives than there are rows.
// R* is 0 if W_n = 0 or W_p = 0 < W_n: only one class has mass. The non-negative estimator (nnPU)
// replaces W_n by max(0, W_n), so that it only needs `mixed`.
//
// A new loss is a struct here, a line in `with_risk` (with_risk.hpp) and a row in risk.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace puforest {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct QuadraticLoss {
    static double mixed(double p, double n) { return 4 * p * n / (p + n); }
    // The parabola opens upward as long as p + n = W_u > 0.
    static double excess(double p, double n) { return p + n > 0 ? mixed(p, n) : kMinusInfinity; }
};

struct LogisticLoss {
    static double mixed(double p, double n) {
        const double u = p + n;
        return -(p * std::log(p / u) + n * std::log(n / u));
    }
    static double excess(double, double) { return kMinusInfinity; }
};

struct SavageLoss {
    static double mixed(double p, double n) { return QuadraticLoss::mixed(p, n); }
    static double excess(double, double n) { return 4 * n; }
};

struct SigmoidLoss {
    static double mixed(double p, double n) { return std::min(p, n); }
    static double excess(double, double n) { return n; }
};

// Bounded by 0 and 1 like the sigmoid loss, with the same minimum.
using ZeroOneLoss = SigmoidLoss;
using RampLoss = SigmoidLoss;

struct HingeLoss {
    static double mixed(double p, double n) { return 2 * std::min(p, n); }
    static double excess(double, double) { return kMinusInfinity; }
};

struct DoubleHingeLoss {
    static double mixed(double p, double n) { return std::min(p, n); }
    static double excess(double, double) { return kMinusInfinity; }
};

struct ExponentialLoss {
    static double mixed(double p, double n) { return 2 * std::sqrt(p * n); }
    static double excess(double, double) { return kMinusInfinity; }
};

// NonNegative is true for nnPU and PN (where W_n < 0 can only be a rounding error).
template <class Loss, bool NonNegative>
struct NodeRisk {
    static double minimum(double w_p, double w_u) {
        const double w_n = w_u - w_p;
        if (w_n > 0) return w_p > 0 ? Loss::mixed(w_p, w_n) : 0;
        if (NonNegative || w_n == 0) return 0;
        return Loss::excess(w_p, w_n);
    }

    // No split can reduce the risk: R* is 0 (nnPU, PN) or -inf (uPU), or one of the two masses is
    // zero, and therefore zero in every descendant.
    static bool pure(double w_p, double w_u) {
        if (w_p <= 0 || w_u <= 0) return true;
        if (NonNegative) return w_u <= w_p;
        return minimum(w_p, w_u) == kMinusInfinity;
    }
};

}  // namespace puforest
