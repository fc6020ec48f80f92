// Risk reductions of candidate splits, and the best one. Formulas only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/params.hpp"
#include "puforest/scan.hpp"
#include "puforest/types.hpp"

namespace puforest {

struct Split {
    FeatureId feature;
    Code code;         // rows with a code of at most this go left
    double threshold;  // rows with a value of at most this go left
    double reduction;
};

// The split with the largest risk reduction; ties go to the first.
template <class Risk, class Stats>
class Choice {
public:
    Choice(const TrainParams& params, const MassFactors& factors)
        : params_(params), factors_(factors) {}

    void start(const Stats& total) {
        total_ = total;
        node_risk_ = risk_of(total);
        best_.reset();
    }

    const std::optional<Split>& best() const { return best_; }

    void consider(FeatureId feature, Code code, double threshold, const Stats& left) {
        const double gain = reduction(left);
        if (improves(left, gain)) best_ = {feature, code, threshold, gain};
    }

    // The same for all cuts of a feature, with thresholds from threshold_at(Cut): first all
    // reductions, in a loop that the compiler can vectorize, then the best of them.
    template <class ThresholdAt>
    void consider_all(FeatureId feature, const Cuts<Stats>& cuts, ThresholdAt&& threshold_at) {
        const std::size_t n = cuts.left.size();
        if (reduction_.size() < n) reduction_.resize(n);
        for (std::size_t i = 0; i < n; ++i) reduction_[i] = reduction(cuts.left[i]);
        for (std::size_t i = 0; i < n; ++i) {
            if (!improves(cuts.left[i], reduction_[i])) continue;
            const Cut& place = cuts.place[i];
            best_ = {feature, place.below, threshold_at(place), reduction_[i]};
        }
    }

private:
    double risk_of(const Stats& stats) const {
        const NodeMasses masses = stats.masses(factors_);
        return Risk::minimum(masses.w_p, masses.w_u);
    }

    double reduction(const Stats& left) const {
        return node_risk_ - risk_of(left) - risk_of(total_.rest(left));
    }

    bool improves(const Stats& left, double reduction) const {
        const std::uint32_t fewest = params_.min_samples_leaf;
        return left.rows() >= fewest && total_.rows() - left.rows() >= fewest &&
               !(reduction < params_.min_risk_reduction) &&
               (!best_ || reduction > best_->reduction);
    }

    const TrainParams& params_;
    const MassFactors& factors_;
    Stats total_;
    double node_risk_ = 0;
    std::optional<Split> best_;
    std::vector<double> reduction_;
};

}  // namespace puforest
