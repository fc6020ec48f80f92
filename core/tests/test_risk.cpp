#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/risk.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

// The losses as functions of the margin, by definition.
double quadratic(double m) { return (1 - m) * (1 - m); }
double logistic(double m) { return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m; }
double savage(double m) { return 4 / ((1 + std::exp(m)) * (1 + std::exp(m))); }
double sigmoid(double m) { return 1 / (1 + std::exp(m)); }
double zero_one(double m) { return m > 0 ? 0 : m < 0 ? 1 : 0.5; }
double ramp(double m) { return std::max(0.0, std::min(1.0, (1 - m) / 2)); }
double hinge(double m) { return std::max(0.0, 1 - m); }
double double_hinge(double m) { return std::max({0.0, (1 - m) / 2, -m}); }
double exponential(double m) { return std::exp(-m); }

using LossFunction = double (*)(double);

constexpr std::array kPositive{0.0, 0.07, 0.3, 1.0};
constexpr std::array kUnlabeled{0.0, 0.07, 0.1, 0.3, 0.31, 0.7, 1.0, 4.0};

// Call use(w_p, w_u) for masses with either sign of W_n, including zeros. The optimal v of the
// quadratic loss, (W_p - W_n) / W_u, is within the grid below.
template <class Use>
void for_each_masses(const Use& use) {
    for (const double w_p : kPositive) {
        for (const double w_u : kUnlabeled) use(w_p, w_u);
    }
}

double risk_at(LossFunction loss, double p, double n, double v) {
    return p * loss(v) + n * loss(-v);
}

double grid_minimum(LossFunction loss, double p, double n) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = -30 * 256; k <= 30 * 256; ++k) {
        least = std::min(least, risk_at(loss, p, n, k / 256.0));
    }
    return least;
}

// Decreasing, with growing steps.
bool is_unbounded(LossFunction loss, double p, double n) {
    double before = risk_at(loss, p, n, 16);
    double step = 0;
    for (double v = 32; v <= 512; v *= 2) {
        const double risk = risk_at(loss, p, n, v);
        if (!(before - risk > step)) return false;
        step = before - risk;
        before = risk;
    }
    return true;
}

template <class Loss, bool NonNegative>
void closed_form_is_the_minimum(LossFunction loss) {
    for_each_masses([&](double w_p, double w_u) {
        const double n = NonNegative ? std::max(0.0, w_u - w_p) : w_u - w_p;
        const double minimum = NodeRisk<Loss, NonNegative>::minimum(w_p, w_u);
        if (minimum == kMinusInfinity) {
            CHECK(!NonNegative && n < 0);
            CHECK(is_unbounded(loss, w_p, n));
            return;
        }
        // The minimum over the grid is close to the minimum, and never below it.
        const double on_grid = grid_minimum(loss, w_p, n);
        CHECK(minimum <= on_grid + 1e-12);
        CHECK(on_grid <= minimum + 1e-4);
    });
}

template <class Loss>
void check_loss(LossFunction loss) {
    closed_form_is_the_minimum<Loss, false>(loss);
    closed_form_is_the_minimum<Loss, true>(loss);
}

TEST(risk_closed_forms_are_minima_over_v) {
    check_loss<QuadraticLoss>(quadratic);
    check_loss<LogisticLoss>(logistic);
    check_loss<SavageLoss>(savage);
    check_loss<SigmoidLoss>(sigmoid);
    check_loss<ZeroOneLoss>(zero_one);
    check_loss<RampLoss>(ramp);
    check_loss<HingeLoss>(hinge);
    check_loss<DoubleHingeLoss>(double_hinge);
    check_loss<ExponentialLoss>(exponential);
}

// Unbounded losses need a separate test: the grid cannot distinguish -1e9 from -inf.
TEST(risk_is_minus_infinity_where_the_loss_is_unbounded) {
    const double p = 0.3, u = 0.1;
    CHECK((NodeRisk<LogisticLoss, false>::minimum(p, u) == kMinusInfinity));
    CHECK((NodeRisk<HingeLoss, false>::minimum(p, u) == kMinusInfinity));
    CHECK((NodeRisk<DoubleHingeLoss, false>::minimum(p, u) == kMinusInfinity));
    CHECK((NodeRisk<ExponentialLoss, false>::minimum(p, u) == kMinusInfinity));
    CHECK((NodeRisk<QuadraticLoss, false>::minimum(p, 0) == kMinusInfinity));
    CHECK(std::isfinite(NodeRisk<QuadraticLoss, false>::minimum(p, u)));
    CHECK(std::isfinite(NodeRisk<SavageLoss, false>::minimum(p, 0)));
    CHECK(std::isfinite(NodeRisk<SigmoidLoss, false>::minimum(p, 0)));
}

TEST(risk_values_computed_by_hand) {
    CHECK((NodeRisk<QuadraticLoss, false>::minimum(1, 4) == 3));
    CHECK((NodeRisk<QuadraticLoss, false>::minimum(2, 1) == -8));
    CHECK((NodeRisk<QuadraticLoss, true>::minimum(2, 1) == 0));
    CHECK((NodeRisk<SavageLoss, false>::minimum(2, 1) == -4));
    CHECK((NodeRisk<SigmoidLoss, false>::minimum(2, 1) == -1));
    CHECK((NodeRisk<HingeLoss, true>::minimum(1, 4) == 2));
    CHECK((NodeRisk<DoubleHingeLoss, true>::minimum(3, 4) == 1));
    CHECK((NodeRisk<ExponentialLoss, true>::minimum(1, 5) == 4));
    CHECK((std::abs(NodeRisk<LogisticLoss, true>::minimum(1, 2) - 2 * std::log(2.0)) < 1e-15));
}

template <class Loss>
void pure_where_no_split_can_help() {
    for_each_masses([](double w_p, double w_u) {
        using NonNegative = NodeRisk<Loss, true>;
        using Unbiased = NodeRisk<Loss, false>;
        const bool one_is_absent = w_p == 0 || w_u == 0;
        CHECK(NonNegative::pure(w_p, w_u) == (NonNegative::minimum(w_p, w_u) == 0));
        CHECK(Unbiased::pure(w_p, w_u) ==
              (one_is_absent || Unbiased::minimum(w_p, w_u) == kMinusInfinity));
    });
}

TEST(risk_pure_if_no_split_can_reduce_it) {
    pure_where_no_split_can_help<QuadraticLoss>();
    pure_where_no_split_can_help<LogisticLoss>();
    pure_where_no_split_can_help<SavageLoss>();
    pure_where_no_split_can_help<SigmoidLoss>();
    pure_where_no_split_can_help<HingeLoss>();
    pure_where_no_split_can_help<DoubleHingeLoss>();
    pure_where_no_split_can_help<ExponentialLoss>();
}

// The minimum risk of the children of a node over all features and cuts.
double best_reduction(const NodeSums& node, const Data<>& data, const NodeSums& root) {
    const auto risk = [&](const NodeSums& s) {
        return quadratic_risk(0.3 * s.n_labeled / root.n_labeled,
                              1.0 * s.n_unlabeled / root.n_unlabeled);
    };
    const Weights ones = unit_weights(data);
    double best = kMinusInfinity;
    for (std::size_t j = 0; j < data.cols; ++j) {
        const auto value = [&](Row r) { return data.matrix().at(data.order[r], j); };
        for (const Row cut : node.rows) {
            NodeSums left, right;
            for (const Row r : node.rows) {
                (value(r) <= value(cut) ? left : right).add(r, data, ones);
            }
            if (!right.rows.empty()) best = std::max(best, risk(node) - risk(left) - risk(right));
        }
    }
    return best;
}

TEST(risk_optimal_splits_have_the_minimum_risk) {
    for (const std::uint32_t levels : {0u, 5u, 40u}) {
        const Data<> data = random_data(5 + levels, {40, 90, 3, levels});
        TrainParams params = default_params(data);
        params.thresholds = Thresholds::Optimal;
        params.max_features = 3;
        const Tree tree = fit(data, params)[0];
        const auto nodes = sums_by_node(tree, 0, data, params, unit_weights(data));
        for (NodeId i = 0; i < tree.size(); ++i) {
            if (tree.feature[i] == kLeaf) continue;
            CHECK(is_near(reduction(tree, i), best_reduction(nodes[i], data, nodes[0])));
            double below = kMinusInfinity;
            double above = -kMinusInfinity;
            for (const Row r : nodes[i].rows) {
                const double value = data.matrix().at(data.order[r], tree.feature[i]);
                if (value <= tree.threshold[i]) below = std::max(below, value);
                if (value > tree.threshold[i]) above = std::min(above, value);
            }
            CHECK(is_near(tree.threshold[i], (below + above) / 2));
        }
    }
}

TEST(risk_more_thresholds_find_better_splits) {
    const Data<> data = random_data(7);
    TrainParams params = default_params(data);
    params.max_features = 1;
    params.n_trees = 50;
    const auto one = fit(data, params);
    params.n_thresholds = 10;
    const auto ten = fit(data, params);
    int better = 0;
    for (std::size_t t = 0; t < one.size(); ++t) {
        CHECK(reduction(ten[t], 0) >= reduction(one[t], 0));
        better += reduction(ten[t], 0) > reduction(one[t], 0);
    }
    CHECK(better > 25);
}

}  // namespace
}  // namespace puforest::testing
