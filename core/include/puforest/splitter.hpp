// Split search of a node: draw candidates, scan the rows, choose the best.
//
// F features are drawn among those that are not constant at the node. Their thresholds are random
// or all midpoints. The candidate with the largest risk reduction wins; ties go to the first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "puforest/candidates.hpp"
#include "puforest/choose.hpp"
#include "puforest/columns.hpp"
#include "puforest/masses.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/scan.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

// Shared by all searches of a tree.
struct SplitContext {
    const Columns& columns;
    const TrainParams& params;
    MassFactors factors;
};

template <class Risk, class Stats>
class Splitter {
public:
    explicit Splitter(const SplitContext& context)
        : columns_(context.columns),
          params_(context.params),
          scan_(*context.columns.loops),
          choice_(context.params, context.factors) {}

    // Return the best split of a node, if any is allowed. `features` are those not known to be
    // constant at the node; their order is restored. Those found constant are in `constants()`.
    std::optional<Split> find(const Workset& set, const NodeRows& rows, const Stats& total,
                              std::span<FeatureId> features, std::uint64_t key,
                              const StopFlag& stop) {
        const bool random = params_.thresholds == Thresholds::Random;
        scan_.start(set, rows, random);
        choice_.start(total);
        draw_.start(features, key);
        constants_.clear();
        std::uint32_t proposed = 0;
        while (proposed < params_.max_features && !stopped(stop)) {
            const auto feature = draw_.next();
            if (!feature) break;
            // The feature that comes next if this one is not constant.
            const auto next = draw_.peek(random ? params_.n_thresholds : 0);
            if (next && columns_.varies[*next]) scan_.prefetch(*next);
            if (columns_.varies[*feature] &&
                (random ? propose_random(*feature, stop) : propose_all(*feature))) {
                ++proposed;
            } else {
                constants_.push_back(*feature);
            }
        }
        draw_.finish();
        return choice_.best();
    }

    std::span<const FeatureId> constants() const { return constants_; }

private:
    static bool stopped(const StopFlag& stop) { return stop.load(std::memory_order_relaxed); }

    // Try the thresholds of a feature; false if it is constant at the node.
    bool propose_random(FeatureId feature, const StopFlag& stop) {
        return scan_.visit(feature, [&](const auto& codes) {
            const CodeRange range = scan_.range(codes);
            if (range.low == range.high) return false;
            const Column& column = columns_.column[feature];
            const double low = column.value(range.low);
            const double high = column.value(range.high);
            for (std::uint32_t i = 0; i < params_.n_thresholds && !stopped(stop); ++i) {
                const double t = threshold_between(low, high, draw_.uniform());
                const Code code = column.code_at_most(t, range.low, range.high - 1);
                choice_.consider(feature, code, t, scan_.left_of(codes, code));
            }
            return true;
        });
    }

    bool propose_all(FeatureId feature) {
        const Cuts<Stats> cuts = scan_.cuts(feature);
        const Column& column = columns_.column[feature];
        choice_.consider_all(feature, cuts, [&](const Cut& cut) {
            return threshold_between(column.value(cut.below), column.value(cut.above), 0.5);
        });
        return !cuts.place.empty();
    }

    const Columns& columns_;
    const TrainParams& params_;
    FeatureDraw draw_;
    NodeScan<Stats> scan_;
    Choice<Risk, Stats> choice_;
    std::vector<FeatureId> constants_;
};

}  // namespace puforest
