// Risk reductions of candidate splits, and the best one. Formulas only.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "puforest/compiler.hpp"
#include "puforest/masses.hpp"
#include "puforest/monotone.hpp"
#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The child that missing values go to: the one with the larger W_u (ties: left), or a given one.
enum class MissingSide : std::uint8_t { Larger, Left, Right };

struct Split {
    FeatureId feature = 0;
    Code code = 0;         // rows with a code of at most this go left
    double threshold = 0;  // rows with a value of at most this go left
    MissingSide missing = MissingSide::Larger;
    // Of a categorical split, in place of code and threshold: the codes that occur at the node,
    // with those that go left first.
    std::vector<Code> categories{};
    std::size_t n_left = 0;
    double reduction = 0;

    // Become a numeric split.
    void set(FeatureId of_feature, Code at_code, double at_threshold) {
        feature = of_feature;
        code = at_code;
        threshold = at_threshold;
        missing = MissingSide::Larger;
        categories.clear();
    }
};

// 1 or -1 if the posterior must not decrease or increase from left to right.
inline int direction_of(const Split& split, const Monotone& monotone) {
    return std::isfinite(split.threshold) ? monotone.direction(split.feature) : 0;
}

// Whether a node with this many rows is searched for a split.
template <class Risk>
bool may_split(const TrainParams& params, std::size_t n, std::uint32_t depth,
               const NodeMasses& masses) {
    return n >= params.min_samples_split && n >= 2 * std::size_t{params.min_samples_leaf} &&
           depth < params.max_depth && !Risk::pure(masses.w_p, masses.w_u);
}

// Whether missing values go to the left child, given the masses of both.
inline bool missing_goes_left(MissingSide side, const NodeMasses& left, const NodeMasses& right) {
    return side == MissingSide::Larger ? left.w_u >= right.w_u : side == MissingSide::Left;
}

// Whether missing values at a node tell anything about the class: the number of labeled rows among
// them differs from its expectation by more than 3 standard errors (of the hypergeometric
// distribution) and by more than 3 rows. To try both sides of every split otherwise fits noise: on
// the nine data sets of benchmarks/tables.py with missing values, accuracy is then 1.1 points lower
// on average (1.6 for extra trees, 0.7 for random forests), and below that of imputed means.
inline bool informative(const Counts& total, const Counts& missing) {
    const double n = total.rows();
    const double n_labeled = total.labeled;
    const double m = missing.rows();
    const double d = std::abs(missing.labeled * n - m * n_labeled);
    return d > 3 * n && d * d * (n - 1) > 9 * m * n_labeled * (n - n_labeled) * (n - m);
}

// The split with the largest risk reduction; ties go to the first.
template <class Risk, class Stats>
class Choice {
public:
    Choice(const TrainParams& params, const MassFactors& factors, const Monotone& monotone)
        : params_(params), factors_(factors), monotone_(monotone) {}

    void start(const Stats& total, const Bounds& bounds) {
        total_ = total;
        bounds_ = bounds;
        node_risk_ = risk_of(total);
        found_ = false;
    }

    // Before the candidates of a feature without missing values.
    void start_feature(FeatureId feature) {
        feature_ = feature;
        has_missing_ = false;
    }

    // The same for any feature; `missing` are the rows without a value.
    void start_feature(FeatureId feature, const Stats& missing) {
        start_feature(feature);
        has_missing_ = missing.rows() > 0;
        if (!has_missing_) return;
        missing_ = missing;
        present_ = total_.rest(missing);
        informative_ = informative(total_.counts(), missing.counts());
    }

    // Valid until the next node; null if no split is allowed.
    const Split* best() const { return found_ ? &best_ : nullptr; }

    // Consider a split by a threshold, given the rows to its left.
    PUFOREST_INLINE void consider(Code code, double threshold, const Stats& left) {
        if (has_missing_) {
            consider_sides(code, threshold, left);
        } else {
            consider_side(code, threshold, left, MissingSide::Larger);
        }
    }

    // The same for many splits, given the rows to the left of each; set_split(split, i) makes it
    // the i-th. First all reductions, in a loop that the compiler can vectorize, then the best of
    // them.
    template <class SetSplit>
    void consider_all(std::span<const Stats> left, SetSplit&& set_split) {
        if (!has_missing_) {
            consider_best(left, [&](std::size_t i) { set_split(best_, i); });
        } else {
            consider_all_sides(left, set_split);
        }
    }

    // Consider the missing values against the rest, by set_split(split), if they are informative or
    // nothing else varies.
    template <class SetSplit>
    void consider_missing(bool nothing_else, SetSplit&& set_split) {
        if (!has_missing_ || !(informative_ || nothing_else)) return;
        const double gain = reduction(present_);
        if (!improves(present_, gain, false)) return;
        set_split(best_);
        best_.missing = MissingSide::Right;
        best_.reduction = gain;
        found_ = true;
    }

    double ratio_of(const Stats& stats) const { return ratio(stats.masses(factors_)); }

private:
    PUFOREST_INLINE double risk_of(const Stats& stats) const {
        const NodeMasses masses = stats.masses(factors_);
        return Risk::minimum(masses.w_p, masses.w_u);
    }

    PUFOREST_INLINE double reduction(const Stats& left) const {
        return node_risk_ - risk_of(left) - risk_of(total_.rest(left));
    }

    PUFOREST_INLINE void consider_side(Code code, double threshold, const Stats& left,
                                       MissingSide missing) {
        const double gain = reduction(left);
        if (!improves(left, gain)) return;
        best_.set(feature_, code, threshold);
        best_.missing = missing;
        best_.reduction = gain;
        found_ = true;
    }

    PUFOREST_RARE void consider_sides(Code code, double threshold, const Stats& left) {
        for_each_side(left, [&](const Stats& side, MissingSide missing) {
            consider_side(code, threshold, side, missing);
        });
    }

    template <class SetSplit>
    PUFOREST_RARE void consider_all_sides(std::span<const Stats> left, SetSplit& set_split) {
        placed_.clear();
        side_.clear();
        for (const Stats& some : left) {
            for_each_side(some, [&](const Stats& side, MissingSide missing) {
                placed_.push_back(side);
                side_.push_back(missing);
            });
        }
        const std::size_t sides = informative_ ? 2 : 1;
        consider_best(placed_, [&](std::size_t i) {
            set_split(best_, i / sides);
            best_.missing = side_[i];
        });
    }

    // Call use(rows to the left, side of the missing values) for the sides to try.
    template <class Use>
    void for_each_side(const Stats& left, Use&& use) const {
        Stats with_missing = left;
        with_missing += missing_;
        if (informative_) {
            use(left, MissingSide::Right);
            use(with_missing, MissingSide::Left);
            return;
        }
        const bool larger = left.masses(factors_).w_u >= present_.rest(left).masses(factors_).w_u;
        use(larger ? with_missing : left, larger ? MissingSide::Left : MissingSide::Right);
    }

    // Call improve(i) for the best of these splits if it is better than the best so far.
    template <class Improve>
    void consider_best(std::span<const Stats> left, Improve&& improve) {
        const std::size_t n = left.size();
        if (reduction_.size() < n) reduction_.resize(n);
        for (std::size_t i = 0; i < n; ++i) reduction_[i] = reduction(left[i]);
        std::size_t best = n;
        for (std::size_t i = 0; i < n; ++i) {
            if (best < n && !(reduction_[i] > reduction_[best])) continue;
            if (improves(left[i], reduction_[i])) best = i;
        }
        if (best == n) return;
        improve(best);
        best_.reduction = reduction_[best];
        found_ = true;
    }

    // `ordered`: values to the left are smaller than those to the right.
    PUFOREST_INLINE bool improves(const Stats& left, double reduction, bool ordered = true) const {
        if (found_ && !(reduction > best_.reduction)) return false;  // most are worse
        const std::uint32_t fewest = params_.min_samples_leaf;
        return left.rows() >= fewest && total_.rows() - left.rows() >= fewest &&
               !(reduction < params_.min_risk_reduction) &&
               (!monotone_.any() || in_order(left, ordered));
    }

    PUFOREST_RARE bool in_order(const Stats& left, bool ordered) const {
        const int direction = ordered ? monotone_.direction(feature_) : 0;
        return allows(bounds_, direction, ratio_of(left), ratio_of(total_.rest(left)));
    }

    const TrainParams& params_;
    const MassFactors& factors_;
    const Monotone& monotone_;
    Stats total_;
    Bounds bounds_;
    double node_risk_ = 0;
    Split best_;
    bool found_ = false;  // whether there is a best split
    std::vector<double> reduction_;

    // Of the current feature.
    FeatureId feature_ = 0;
    bool has_missing_ = false;
    bool informative_ = false;
    Stats missing_;
    Stats present_;  // the rest
    std::vector<Stats> placed_;
    std::vector<MissingSide> side_;
};

}  // namespace puforest
