// Split search of a node: draw candidates, scan the rows, choose the best.
//
// F features are drawn among those that are not constant at the node. Their thresholds are random
// or all midpoints. Categories are divided at random or, as if they were numbers, in the order of
// their posteriors; under nnPU with few labeled rows, in the order of their labels. Missing values
// go to either side, or to a child of their own; see choose.hpp. The candidate with the largest
// risk reduction wins; ties go to the first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "puforest/candidates.hpp"
#include "puforest/choose.hpp"
#include "puforest/columns.hpp"
#include "puforest/compiler.hpp"
#include "puforest/masses.hpp"
#include "puforest/monotone.hpp"
#include "puforest/parallel.hpp"
#include "puforest/params.hpp"
#include "puforest/scan.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

// Shared by all searches of a tree.
struct SplitContext {
    const TrainParams& params;
    const Monotone& monotone;
    MassFactors factors;
};

// `Scan` reads the rows: NodeScan, or MergedScan if they are elsewhere.
template <class Risk, class Stats, class Scan = NodeScan<Stats>>
class Splitter {
public:
    Splitter(const SplitContext& context, const typename Scan::Table& table)
        : params_(context.params),
          scan_(table),
          choice_(context.params, context.factors, context.monotone) {}

    // Return the best split of a node, or null if none is allowed. `features` are those not known
    // to be constant at the node; their order is restored. Those found constant are in
    // `constants()`.
    const Split* find(const typename Scan::Node& node, const Stats& total, const Bounds& bounds,
                      std::span<FeatureId> features, std::uint64_t key, const StopFlag& stop) {
        const bool random = params_.thresholds == Thresholds::Random;
        scan_.start(node, random);
        total_ = total;
        choice_.start(total, bounds);
        draw_.start(features, key);
        constants_.clear();
        std::uint32_t proposed = 0;
        while (proposed < params_.max_features && !stopped(stop)) {
            const auto feature = draw_.next();
            if (!feature) break;
            // The feature that comes next if this one is not constant.
            const auto next = draw_.peek(random ? params_.n_thresholds : 0);
            if (next && scan_.varies(*next)) scan_.prefetch(*next);
            if (scan_.varies(*feature) && propose(*feature, stop)) {
                ++proposed;
            } else {
                constants_.push_back(*feature);
            }
        }
        draw_.finish();
        return choice_.best();
    }

    std::span<const FeatureId> constants() const { return constants_; }
    const Scan& scan() const { return scan_; }

private:
    using Column = typename Scan::Column;
    using Bins = std::span<const Bin<Stats>>;

    // Categories that stay together.
    struct Group {
        double ratio;
        std::size_t bin;
        Stats rows;
    };

    static bool stopped(const StopFlag& stop) { return stop.load(std::memory_order_relaxed); }

    // Try the candidates of a feature; false if it is constant at the node.
    PUFOREST_INLINE bool propose(FeatureId feature, const StopFlag& stop) {
        const auto& column = scan_.column(feature);
        if (column.categorical()) return propose_sets(feature, column);
        return params_.thresholds == Thresholds::Random ? propose_random(feature, column, stop)
                                                        : propose_all(feature, column);
    }

    PUFOREST_INLINE bool propose_random(FeatureId feature, const Column& column,
                                        const StopFlag& stop) {
        return scan_.visit(feature, [&](const auto& codes) PUFOREST_INLINE_LAMBDA {
            constexpr bool kHasGaps =
                std::is_same_v<std::remove_cvref_t<decltype(codes)>, NodeCodesWithGaps>;
            CodeRange range;
            if (kHasGaps || column.has_missing()) {
                range = start_values(feature, column, codes);
                if (range.low > range.high) return false;
                if (range.low == range.high) {
                    consider_missing(feature, column, false);
                    return true;
                }
            } else if constexpr (!kHasGaps) {
                range = scan_.range(codes);
                if (range.low == range.high) return false;
                choice_.start_feature(feature);
            }
            const double low = column.value(range.low);
            const double high = column.value(range.high);
            for (std::uint32_t i = 0; i < params_.n_thresholds && !stopped(stop); ++i) {
                const double t = threshold_between(low, high, draw_.uniform());
                const Code code = column.code_at_most(t, range.low, range.high - 1);
                choice_.consider(code, t, scan_.left_of(codes, code));
            }
            if (column.has_missing()) consider_missing(feature, column, true);
            return true;
        });
    }

    // Start with a feature that has missing values. Returns the range of the others; low is above
    // high if the feature is constant at the node.
    template <class Codes>
    PUFOREST_RARE CodeRange start_values(FeatureId feature, const Column& column,
                                         const Codes& codes) {
        const auto [range, missing] = scan_.value_range(codes, column.missing_code());
        if (range.low == range.high && missing.rows() == 0) return {1, 0};
        choice_.start_feature(feature, missing);
        return range;
    }

    bool propose_all(FeatureId feature, const Column& column) {
        Cuts<Stats> cuts = scan_.cuts(feature);
        if (cuts.place.empty()) return false;
        Stats missing{};
        if (column.has_missing() && cuts.place.back().above == column.missing_code()) {
            missing = total_.rest(cuts.left.back());
            const std::size_t n = cuts.place.size() - 1;
            cuts = {cuts.place.first(n), cuts.left.first(n)};
        }
        choice_.start_feature(feature, missing);
        choice_.consider_all(cuts.left, [&](Split& split, std::size_t i) {
            const auto [below, above] = cuts.place[i];
            split.set(feature, below,
                      threshold_between(column.value(below), column.value(above), 0.5));
        });
        if (column.has_missing()) consider_missing(feature, column, !cuts.place.empty());
        return true;
    }

    // The missing values of a numeric feature against all others.
    PUFOREST_RARE void consider_missing(FeatureId feature, const Column& column, bool others_vary) {
        choice_.consider_missing(!others_vary, [&](Split& split) {
            split.set(feature, column.size() - 1, std::numeric_limits<double>::infinity());
        });
    }

    PUFOREST_RARE bool propose_sets(FeatureId feature, const Column& column) {
        Bins bins = scan_.bins(feature);
        if (bins.size() < 2) return false;
        Stats missing{};
        if (column.has_missing() && bins.back().code == column.missing_code()) {
            missing = bins.back().rows;
            bins = bins.first(bins.size() - 1);
        }
        choice_.start_feature(feature, missing);
        if (bins.size() > 1) {
            if (has_few_labeled_rows(bins)) {
                consider_label_order(feature, bins);
            } else if (params_.thresholds == Thresholds::Random) {
                consider_random_sets(feature, column, bins);
            } else {
                consider_ordered_sets(feature, bins);
            }
        }
        choice_.consider_missing(bins.size() == 1, [&](Split& split) {
            set_categories(split, feature, bins, [](std::size_t) { return true; });
        });
        return true;
    }

    bool has_few_labeled_rows(Bins bins) const {
        const std::size_t per_category = params_.thresholds == Thresholds::Random
                                             ? kLabeledForRandomSets
                                             : kLabeledForOptimalSets;
        return params_.risk == puforest::Risk::nnPU &&
               total_.counts().labeled < per_category * bins.size();
    }

    std::size_t most_sets(Bins bins) const {
        return params_.n_thresholds * std::min(kMostSets, bins.size() - 1);
    }

    // Random or all cuts between neighboring categories.
    void consider_label_order(FeatureId feature, Bins bins) {
        const std::size_t n_cuts = bins.size() - 1;
        prefix_.clear();
        Stats left{};
        for (const auto& [code, rows] : bins.first(n_cuts)) prefix_.push_back(left += rows);
        if (params_.thresholds == Thresholds::Optimal) {
            choice_.consider_all(prefix_, [&](Split& split, std::size_t cut) {
                set_categories(split, feature, bins, [&](std::size_t i) { return i <= cut; });
            });
            return;
        }
        Rng rng(draw_.word());
        cuts_.clear();
        left_.clear();
        for (std::size_t k = most_sets(bins); k > 0; --k) {
            cuts_.push_back(rng.below(n_cuts));
            left_.push_back(prefix_[cuts_.back()]);
        }
        choice_.consider_all(left_, [&](Split& split, std::size_t k) {
            set_categories(split, feature, bins, [&](std::size_t i) { return i <= cuts_[k]; });
        });
    }

    // Every category goes left with probability one half. Sets that leave a side empty are skipped.
    void consider_random_sets(FeatureId feature, const Column& column, Bins bins) {
        const std::uint64_t salt = draw_.word();
        std::uint64_t any = 0;
        std::uint64_t all = ~std::uint64_t{0};
        words_.clear();
        for (const auto& [code, rows] : bins) {
            words_.push_back(category_word(salt, static_cast<std::uint64_t>(column.value(code))));
            any |= words_.back();
            all &= words_.back();
        }
        const std::size_t most = most_sets(bins);
        sets_.clear();
        left_.clear();
        for (std::uint64_t sets = any & ~all; sets != 0 && sets_.size() < most; sets &= sets - 1) {
            const int set = std::countr_zero(sets);
            Stats left{};
            for (std::size_t i = 0; i < bins.size(); ++i) {
                if (words_[i] >> set & 1) left += bins[i].rows;
            }
            sets_.push_back(set);
            left_.push_back(left);
        }
        choice_.consider_all(left_, [&](Split& split, std::size_t i) {
            set_categories(split, feature, bins,
                           [&](std::size_t j) { return (words_[j] >> sets_[i] & 1) != 0; });
        });
    }

    // All prefixes of the categories in the order of W_p / W_u; ties are in the order of the codes.
    // The best split is among them if R* is concave in the masses (PN, and uPU with the quadratic
    // loss): the risk of the children is then smallest at a vertex of the zonotope of the
    // categories' masses, and the vertices are these prefixes. Under nnPU, R* has a convex kink at
    // W_n = 0, and the order is a heuristic (benchmarks/results/category_order.md). There,
    // categories with less than one expected labeled row stay together, last in ties, unless all
    // are such: one by one they would be ordered by chance. With 131 protocols in UNSW-NB15, that
    // costs random forests 2.4 points of accuracy.
    void consider_ordered_sets(FeatureId feature, Bins bins) {
        const Counts& total = total_.counts();
        const auto expects_none = [&](const Bin<Stats>& bin) {
            return std::uint64_t{bin.rows.rows()} * total.labeled < total.rows();
        };
        const bool keep_rare_together = params_.risk == puforest::Risk::nnPU &&
                                        !std::all_of(bins.begin(), bins.end(), expects_none);
        const auto is_rare = [&](const Bin<Stats>& bin) {
            return keep_rare_together && expects_none(bin);
        };
        order_.clear();
        Stats rare{};
        for (std::size_t i = 0; i < bins.size(); ++i) {
            if (is_rare(bins[i])) {
                rare += bins[i].rows;
            } else {
                order_.push_back({choice_.ratio_of(bins[i].rows), i, bins[i].rows});
            }
        }
        if (rare.rows() > 0) order_.push_back({choice_.ratio_of(rare), bins.size(), rare});
        std::sort(order_.begin(), order_.end(), [](const Group& a, const Group& b) {
            return a.ratio != b.ratio ? a.ratio < b.ratio : a.bin < b.bin;
        });
        left_.clear();
        rank_.resize(bins.size() + 1);
        Stats left{};
        for (std::size_t k = 0; k < order_.size(); ++k) {
            rank_[order_[k].bin] = k;
            left += order_[k].rows;
            if (k + 1 < order_.size()) left_.push_back(left);
        }
        choice_.consider_all(left_, [&](Split& split, std::size_t k) {
            set_categories(split, feature, bins, [&](std::size_t i) {
                return rank_[is_rare(bins[i]) ? bins.size() : i] <= k;
            });
        });
    }

    template <class GoesLeft>
    static void set_categories(Split& split, FeatureId feature, Bins bins, GoesLeft&& goes_left) {
        split.set(feature, 0, 0);
        split.categories.reserve(bins.size());
        for (const bool side : {true, false}) {
            for (std::size_t i = 0; i < bins.size(); ++i) {
                if (goes_left(i) == side) split.categories.push_back(bins[i].code);
            }
            if (side) split.n_left = split.categories.size();
        }
    }

    const TrainParams& params_;
    FeatureDraw draw_;
    Scan scan_;
    Choice<Risk, Stats> choice_;
    std::vector<FeatureId> constants_;
    Stats total_;

    // Of the categories of a feature.
    std::vector<std::uint64_t> words_;  // bits of the random sets
    std::vector<int> sets_;
    std::vector<std::size_t> cuts_;  // in the order of the labels
    std::vector<Stats> prefix_;
    std::vector<Group> order_;
    std::vector<std::size_t> rank_;
    std::vector<Stats> left_;
};

}  // namespace puforest
