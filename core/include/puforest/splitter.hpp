// The search for a node's split.
//
// F features are drawn among those not constant at the node. Each proposes thresholds, random
// or all midpoints, and the proposal with the largest risk reduction wins, the first among
// equals.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "puforest/columns.hpp"
#include "puforest/kernels.hpp"
#include "puforest/masses.hpp"
#include "puforest/params.hpp"
#include "puforest/rng.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

struct Split {
    FeatureId feature;
    Code code;         // rows with a code at most this go left
    double threshold;  // rows with a value at most this go left
    double reduction;
};

// What every search of one tree shares.
struct SplitContext {
    const Columns& columns;
    const TrainParams& params;
    MassFactors factors;
};

// A threshold in [low, high), both finite, at the share `u` of the way; safe where the
// difference overflows and where rounding would reach `high`.
inline double threshold_between(double low, double high, double u) {
    const double width = high - low;
    const double t =
        width <= std::numeric_limits<double>::max() ? low + u * width : low * (1 - u) + high * u;
    return t >= low && t < high ? t : low;
}

template <class Risk, class Stats>
class Splitter {
public:
    explicit Splitter(const SplitContext& context) : context_(context) {}

    // The best split of a node, if any is allowed. `features` are those not known to be
    // constant here and is left as it was; those found constant are in `constants()` after.
    std::optional<Split> find(const Workset& set, const NodeRows& rows, const Stats& total,
                              std::span<FeatureId> features, std::uint64_t key,
                              const StopFlag& stop) {
        set_ = &set;
        rows_ = rows;
        masked_ = may_mask() && set.extent() <= kPositionsPerRow * rows.size();
        if (masked_) make_mask();
        stop_ = &stop;
        total_ = total;
        best_.reset();
        const NodeMasses masses = total.masses(context_.factors);
        node_risk_ = Risk::minimum(masses.w_p, masses.w_u);
        constants_.clear();
        swaps_.clear();
        Rng rng(key);
        std::uint32_t proposed = 0;
        for (std::size_t i = 0; i < features.size(); ++i) {
            if (proposed == context_.params.max_features || stopped()) {
                break;
            }
            const std::size_t j = i + rng.below(features.size() - i);
            swaps_.push_back(j);
            std::swap(features[i], features[j]);
            prefetch_next(features, i + 1, rng);
            if (propose(features[i], rng)) {
                ++proposed;
            } else {
                constants_.push_back(features[i]);
            }
        }
        while (!swaps_.empty()) {
            std::swap(features[swaps_.size() - 1], features[swaps_.back()]);
            swaps_.pop_back();
        }
        return best_;
    }

    std::span<const FeatureId> constants() const { return constants_; }

private:
    bool stopped() const { return stop_->load(std::memory_order_relaxed); }

    // Ask for the codes of the feature that comes next if this one is not constant.
    void prefetch_next(std::span<const FeatureId> features, std::size_t i, Rng rng) const {
        if (i == features.size()) return;
        if (context_.params.thresholds == Thresholds::Random)
            rng.skip(context_.params.n_thresholds);
        set_->prefetch(features[i + rng.below(features.size() - i)]);
    }

    // Counts of rows that each stand once can be taken from the column as it is.
    bool may_mask() const {
        return std::is_same_v<Stats, Counts> && set_->distinct() &&
               context_.params.thresholds == Thresholds::Random;
    }

    void make_mask() {
        mask_.assign(set_->extent(), 0);
        for (const Row row : rows_.labelled) mask_[row] = 255;
        for (const Row row : rows_.unlabelled) mask_[row] = 255;
    }

    // The codes of the node's rows: the whole column of the workset under a mask, or a buffer
    // of just those rows without one. Those of labelled rows come before `unlabelled_begin`.
    template <class CodeType>
    struct NodeCodes {
        const CodeType* codes;
        const std::uint8_t* mask;
        std::size_t unlabelled_begin;
        std::size_t size;
    };

    // Try the thresholds of one feature; false if it is constant here.
    bool propose(FeatureId feature, Rng& rng) {
        if (!context_.columns.column[feature].varies()) return false;
        return set_->visit(feature,
                           [&](const auto* codes) { return propose_codes(feature, codes, rng); });
    }

    template <class CodeType>
    bool propose_codes(FeatureId feature, const CodeType* column, Rng& rng) {
        const bool optimal = context_.params.thresholds == Thresholds::Optimal;
        if constexpr (std::is_same_v<Stats, Counts> && sizeof(CodeType) == 1) {
            if (optimal && rows_.size() >= kManyRows) return try_all_of_bytes(feature, column);
        }
        const NodeCodes<CodeType> here = fetch(column);
        const KernelsOf<CodeType>& loops = kernels_.template of<CodeType>();
        const CodeRange codes = here.mask ? loops.masked_range(here.codes, here.mask, here.size)
                                          : loops.range(here.codes, here.size);
        if (codes.low == codes.high) return false;
        if (optimal) {
            try_all(feature, here.codes, codes);
        } else {
            try_random(feature, here, codes, rng);
        }
        return true;
    }

    template <class CodeType>
    NodeCodes<CodeType> fetch(const CodeType* column) {
        if (masked_) return {column, mask_.data(), set_->unlabelled_begin(), set_->extent()};
        const std::size_t n = rows_.size();
        if (buffer_.size() < n * sizeof(CodeType)) buffer_.resize(n * sizeof(CodeType));
        auto* const codes = reinterpret_cast<CodeType*>(buffer_.data());
        for_each_row([&](std::size_t i, Row row, bool) { codes[i] = column[row]; });
        return {codes, nullptr, rows_.labelled.size(), n};
    }

    template <class CodeType>
    void try_random(FeatureId feature, const NodeCodes<CodeType>& here, CodeRange codes, Rng& rng) {
        const Column& column = context_.columns.column[feature];
        const double low = column.value(codes.low);
        const double high = column.value(codes.high);
        for (std::uint32_t i = 0; i < context_.params.n_thresholds && !stopped(); ++i) {
            const double t = threshold_between(low, high, rng.uniform());
            const Code code = column.code_at_most(t, codes.low, codes.high - 1);
            const Stats left = left_of(here, code);
            const double gain = reduction(left);
            if (improves(left, gain)) best_ = {feature, code, t, gain};
        }
    }

    template <class CodeType>
    Stats left_of(const NodeCodes<CodeType>& here, Code code) const {
        if constexpr (std::is_same_v<Stats, Counts>) {
            const KernelsOf<CodeType>& loops = kernels_.template of<CodeType>();
            const auto count = [&](std::size_t begin, std::size_t end) {
                const CodeType* const codes = here.codes + begin;
                return here.mask ? loops.masked_count(codes, here.mask + begin, end - begin, code)
                                 : loops.count(codes, end - begin, code);
            };
            return {count(0, here.unlabelled_begin), count(here.unlabelled_begin, here.size)};
        } else {
            Stats left;
            for_each_row([&](std::size_t i, Row row, bool labelled) {
                if (here.codes[i] <= code) left.add(row, labelled, set_->weights());
            });
            return left;
        }
    }

    // A place between two neighbouring codes of the node.
    struct Cut {
        Code below;
        Code above;
    };

    // All midpoints between the codes of the node.
    template <class CodeType>
    void try_all(FeatureId feature, const CodeType* here, CodeRange codes) {
        const std::size_t n = rows_.size();
        const std::size_t n_bins = std::size_t{codes.high} - codes.low + 1;
        start_cuts(std::min(n, n_bins));
        // Sums depend on the order of adding up, so for them the limit is part of the result.
        const bool few_bins = n_bins <= kBinsPerRow * n;
        if (few_bins || (std::is_same_v<Stats, Counts> && n_bins <= kMostBins)) {
            cut_bins(here, codes.low, n_bins);
        } else {
            cut_sorted(here);
        }
        consider_cuts(feature);
    }

    // One pass fills a bin for each code, and marks it unless most bins are filled anyway.
    template <class CodeType>
    void cut_bins(const CodeType* here, Code low, std::size_t n_bins) {
        if (bins_.size() < n_bins) bins_.resize(n_bins);
        const bool dense = n_bins <= rows_.size();
        const std::size_t n_words = (n_bins + 63) / 64;
        if (marks_.size() < n_words) marks_.resize(n_words);
        for_each_row([&](std::size_t i, Row row, bool labelled) {
            const std::size_t bin = here[i] - low;
            bins_[bin].add(row, labelled, set_->weights());
            if (!dense) marks_[bin / 64] |= std::uint64_t{1} << bin % 64;
        });
        const auto empty = [&](std::size_t bin) {
            add_cut_before(low + static_cast<Code>(bin), bins_[bin]);
            bins_[bin] = Stats{};
        };
        if (dense) {
            for (std::size_t bin = 0; bin < n_bins; ++bin) {
                if (bins_[bin].rows() > 0) empty(bin);
            }
        } else {
            for (std::size_t word = 0; word < n_words; ++word) {
                for (std::uint64_t left = marks_[word]; left != 0; left &= left - 1) {
                    empty(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
                }
                marks_[word] = 0;
            }
        }
    }

    // Where there are too many codes for bins, sort the rows by them.
    template <class CodeType>
    void cut_sorted(const CodeType* here) {
        sorted_.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            sorted_.push_back(std::uint64_t{here[i]} << 32 | i);
        }
        std::sort(sorted_.begin(), sorted_.end());
        const std::size_t n_labelled = rows_.labelled.size();
        for (const std::uint64_t item : sorted_) {
            const auto code = static_cast<Code>(item >> 32);
            const std::size_t i = item & 0xffffffffu;
            const bool labelled = i < n_labelled;
            Stats one;
            one.add(labelled ? rows_.labelled[i] : rows_.unlabelled[i - n_labelled], labelled,
                    set_->weights());
            add_cut_before(code, one);
        }
    }

    // The same for many rows of a column of bytes: straight from the column into bins, in turn
    // into several sets of them, since the next addition to a bin has to wait for the last one.
    bool try_all_of_bytes(FeatureId feature, const std::uint8_t* column)
        requires std::is_same_v<Stats, Counts>
    {
        constexpr std::size_t kSets = 4;
        using Bins = std::array<std::array<std::uint32_t, 256>, kSets>;
        const auto count = [column](std::span<const Row> rows) {
            Bins bins{};
            std::size_t i = 0;
            for (; i + kSets <= rows.size(); i += kSets) {
                for (std::size_t set = 0; set < kSets; ++set) ++bins[set][column[rows[i + set]]];
            }
            for (; i < rows.size(); ++i) ++bins[0][column[rows[i]]];
            for (std::size_t set = 1; set < kSets; ++set) {
                for (std::size_t bin = 0; bin < 256; ++bin) bins[0][bin] += bins[set][bin];
            }
            return bins[0];
        };
        const auto labelled = count(rows_.labelled);
        const auto unlabelled = count(rows_.unlabelled);
        start_cuts(labelled.size());
        for (Code code = 0; code < labelled.size(); ++code) {
            const Counts here{labelled[code], unlabelled[code]};
            if (here.rows() > 0) add_cut_before(code, here);
        }
        consider_cuts(feature);
        return n_cuts_ > 0;
    }

    void start_cuts(std::size_t most) {
        if (cuts_.size() < most) {
            left_of_cut_.resize(most);
            reduction_.resize(most);
            cuts_.resize(most);  // last, since its size stands for all three
        }
        n_cuts_ = 0;
        left_ = Stats{};
    }

    // Called with ascending codes, and what the rows of each weigh.
    void add_cut_before(Code code, const Stats& some) {
        if (left_.rows() > 0 && code != last_code_) {
            cuts_[n_cuts_] = {last_code_, code};
            left_of_cut_[n_cuts_++] = left_;
        }
        left_ += some;
        last_code_ = code;
    }

    // Reductions first, in a loop that the compiler can vectorise, then the best of them.
    void consider_cuts(FeatureId feature) {
        for (std::size_t i = 0; i < n_cuts_; ++i) reduction_[i] = reduction(left_of_cut_[i]);
        const Column& column = context_.columns.column[feature];
        for (std::size_t i = 0; i < n_cuts_; ++i) {
            if (!improves(left_of_cut_[i], reduction_[i])) continue;
            const auto [below, above] = cuts_[i];
            const double t = threshold_between(column.value(below), column.value(above), 0.5);
            best_ = {feature, below, t, reduction_[i]};
        }
    }

    // use(position in the node, row, is labelled)
    template <class Use>
    void for_each_row(Use&& use) const {
        const std::size_t n_labelled = rows_.labelled.size();
        for (std::size_t i = 0; i < n_labelled; ++i) use(i, rows_.labelled[i], true);
        for (std::size_t i = 0; i < rows_.unlabelled.size(); ++i) {
            use(n_labelled + i, rows_.unlabelled[i], false);
        }
    }

    double reduction(const Stats& left) const {
        const NodeMasses l = left.masses(context_.factors);
        const NodeMasses r = total_.rest(left).masses(context_.factors);
        return node_risk_ - Risk::minimum(l.w_p, l.w_u) - Risk::minimum(r.w_p, r.w_u);
    }

    bool improves(const Stats& left, double reduction) const {
        const std::uint32_t fewest = context_.params.min_samples_leaf;
        return left.rows() >= fewest && total_.rows() - left.rows() >= fewest &&
               !(reduction < context_.params.min_risk_reduction) &&
               (!best_ || reduction > best_->reduction);
    }

    // Reading a whole column under a mask wins over picking the node's rows while there are at
    // most this many positions for each of them.
    static constexpr std::size_t kPositionsPerRow = 16;

    // Bins win over sorting while there are at most this many for each row, and for counts,
    // where empty ones cost nothing, up to this many in all.
    static constexpr std::size_t kBinsPerRow = 4;
    static constexpr std::size_t kMostBins = std::size_t{1} << 16;

    // As many rows as make clearing 256 bins worthwhile.
    static constexpr std::size_t kManyRows = 256;

    const SplitContext& context_;
    const Kernels& kernels_ = kernels();
    const StopFlag* stop_ = nullptr;
    const Workset* set_ = nullptr;
    NodeRows rows_;
    bool masked_ = false;
    Stats total_;
    double node_risk_ = 0;
    std::optional<Split> best_;
    std::vector<FeatureId> constants_;
    std::vector<std::size_t> swaps_;
    std::vector<std::uint8_t> mask_;
    std::vector<std::byte> buffer_;
    std::vector<Stats> bins_;           // empty between searches
    std::vector<std::uint64_t> marks_;  // a bit for each bin that is not
    std::vector<std::uint64_t> sorted_;
    std::vector<Cut> cuts_;
    std::vector<Stats> left_of_cut_;
    std::vector<double> reduction_;
    std::size_t n_cuts_ = 0;
    Stats left_;          // of the cut being made
    Code last_code_ = 0;  // the highest code in it
};

}  // namespace puforest
