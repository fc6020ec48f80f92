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

namespace puforest {

struct Split {
    FeatureId feature;
    Code code;         // rows with a code at most this go left
    double threshold;  // rows with a value at most this go left
    double reduction;
};

// The rows of a node, labelled ones first.
struct NodeRows {
    std::span<Row> labelled;
    std::span<Row> unlabelled;

    std::size_t size() const { return labelled.size() + unlabelled.size(); }
};

// What every search of one tree shares.
struct SplitContext {
    const Columns& columns;
    const RowWeights& weights;
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
    std::optional<Split> find(const NodeRows& rows, const Stats& total,
                              std::span<FeatureId> features, std::uint64_t key,
                              const StopFlag& stop) {
        rows_ = rows;
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

    // Try the thresholds of one feature; false if it is constant here.
    bool propose(FeatureId feature, Rng& rng) {
        return context_.columns.column[feature].visit(
            [&](const auto* codes) { return propose_codes(feature, codes, rng); });
    }

    template <class CodeType>
    bool propose_codes(FeatureId feature, const CodeType* codes, Rng& rng) {
        const std::size_t n = rows_.size();
        const std::size_t n_labelled = rows_.labelled.size();
        if (buffer_.size() < n * sizeof(CodeType)) buffer_.resize(n * sizeof(CodeType));
        auto* const here = reinterpret_cast<CodeType*>(buffer_.data());
        const auto fetch = [&](std::span<const Row> rows, CodeType* out) {
            const Columns& columns = context_.columns;
            if (n * columns.row_bytes <= kRowMajorBytes) {
                const std::byte* const first = columns.by_row + columns.column[feature].offset();
                gather(first, columns.row_bytes, rows.data(), rows.size(), out);
            } else {
                gather(codes, rows.data(), rows.size(), out);
            }
        };
        fetch(rows_.labelled, here);
        fetch(rows_.unlabelled, here + n_labelled);
        const CodeRange codes_range = range(here, n);
        if (codes_range.low == codes_range.high) return false;
        if (context_.params.thresholds == Thresholds::Random) {
            try_random(feature, here, codes_range, rng);
        } else if (codes_range.high - codes_range.low < kBinsPerRow * n) {
            scan_histogram(feature, here, codes_range);
        } else {
            scan_sorted(feature, here);
        }
        return true;
    }

    template <class CodeType>
    void try_random(FeatureId feature, const CodeType* here, CodeRange codes, Rng& rng) {
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
    Stats left_of(const CodeType* here, Code code) const {
        const std::size_t n_labelled = rows_.labelled.size();
        if constexpr (std::is_same_v<Stats, Counts>) {
            return {count_at_most(here, n_labelled, code),
                    count_at_most(here + n_labelled, rows_.unlabelled.size(), code)};
        } else {
            Stats left;
            for_each_row([&](std::size_t i, Row row, bool labelled) {
                if (here[i] <= code) left.add(row, labelled, context_.weights);
            });
            return left;
        }
    }

    // Optimal thresholds where codes are dense: one pass fills a bin for each code.
    template <class CodeType>
    void scan_histogram(FeatureId feature, const CodeType* here, CodeRange codes) {
        bins_.assign(std::size_t{codes.high} - codes.low + 1, Stats{});
        for_each_row([&](std::size_t i, Row row, bool labelled) {
            bins_[here[i] - codes.low].add(row, labelled, context_.weights);
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
                     context_.weights);
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

    // Nodes whose rows take at most this much of Columns::by_row read from there: what a usual
    // second-level cache holds.
    static constexpr std::size_t kRowMajorBytes = std::size_t{512} << 10;

    // A histogram wins over sorting while it has at most this many bins for each row.
    static constexpr std::size_t kBinsPerRow = 4;

    const SplitContext& context_;
    const StopFlag* stop_ = nullptr;
    NodeRows rows_;
    Stats total_;
    double node_risk_ = 0;
    std::optional<Split> best_;
    std::vector<FeatureId> constants_;
    std::vector<std::size_t> swaps_;
    std::vector<std::byte> buffer_;
    std::vector<Stats> bins_;
    std::vector<std::uint64_t> sorted_;
};

}  // namespace puforest
