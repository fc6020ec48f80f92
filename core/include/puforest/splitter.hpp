// The search for a node's split.
//
// F features are drawn among those not constant at the node. Each proposes thresholds, random
// or all midpoints, and the proposal with the largest risk reduction wins, the first among
// equals.
#pragma once

#include <algorithm>
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
        const NodeCodes<CodeType> here = fetch(column);
        const KernelsOf<CodeType>& loops = kernels_.template of<CodeType>();
        const CodeRange codes = here.mask ? loops.masked_range(here.codes, here.mask, here.size)
                                          : loops.range(here.codes, here.size);
        if (codes.low == codes.high) return false;
        if (context_.params.thresholds == Thresholds::Random) {
            try_random(feature, here, codes, rng);
        } else if (codes.high - codes.low < kBinsPerRow * rows_.size()) {
            scan_histogram(feature, here.codes, codes);
        } else {
            scan_sorted(feature, here.codes);
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
            consider(feature, code, t, left_of(here, code));
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

    // Optimal thresholds where codes are dense: one pass fills a bin for each code.
    template <class CodeType>
    void scan_histogram(FeatureId feature, const CodeType* here, CodeRange codes) {
        bins_.assign(std::size_t{codes.high} - codes.low + 1, Stats{});
        for_each_row([&](std::size_t i, Row row, bool labelled) {
            bins_[here[i] - codes.low].add(row, labelled, set_->weights());
        });
        Stats left = bins_[0];
        Code before = codes.low;
        for (Code code = codes.low + 1; code <= codes.high; ++code) {
            const Stats& bin = bins_[code - codes.low];
            if (bin.rows() == 0) continue;
            consider_between(feature, before, code, left);
            left += bin;
            before = code;
        }
    }

    // Optimal thresholds where codes are sparse: sort the rows by their codes.
    template <class CodeType>
    void scan_sorted(FeatureId feature, const CodeType* here) {
        sorted_.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            sorted_.push_back(std::uint64_t{here[i]} << 32 | i);
        }
        std::sort(sorted_.begin(), sorted_.end());
        const std::size_t n_labelled = rows_.labelled.size();
        Stats left;
        Code before = static_cast<Code>(sorted_[0] >> 32);
        for (const std::uint64_t item : sorted_) {
            const auto code = static_cast<Code>(item >> 32);
            const std::size_t i = item & 0xffffffffu;
            if (code != before) consider_between(feature, before, code, left);
            const bool labelled = i < n_labelled;
            left.add(labelled ? rows_.labelled[i] : rows_.unlabelled[i - n_labelled], labelled,
                     set_->weights());
            before = code;
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

    void consider_between(FeatureId feature, Code before, Code code, const Stats& left) {
        const Column& column = context_.columns.column[feature];
        consider(feature, before, threshold_between(column.value(before), column.value(code), 0.5),
                 left);
    }

    void consider(FeatureId feature, Code code, double threshold, const Stats& left) {
        const Stats right = total_.rest(left);
        const std::uint32_t fewest = context_.params.min_samples_leaf;
        if (left.rows() < fewest || right.rows() < fewest) return;
        const NodeMasses l = left.masses(context_.factors);
        const NodeMasses r = right.masses(context_.factors);
        const double reduction =
            node_risk_ - Risk::minimum(l.w_p, l.w_u) - Risk::minimum(r.w_p, r.w_u);
        if (reduction < context_.params.min_risk_reduction) return;
        if (!best_ || reduction > best_->reduction) best_ = {feature, code, threshold, reduction};
    }

    // Reading a whole column under a mask wins over picking the node's rows while there are at
    // most this many positions for each of them.
    static constexpr std::size_t kPositionsPerRow = 16;

    // A histogram wins over sorting while it has at most this many bins for each row.
    static constexpr std::size_t kBinsPerRow = 4;

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
    std::vector<Stats> bins_;
    std::vector<std::uint64_t> sorted_;
};

}  // namespace puforest
