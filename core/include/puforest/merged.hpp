// Statistics of the rows of a node that is spread over several parts of the data: those that were
// merged so far, and those that the split search still needs.
//
// The search replays from its beginning whenever more statistics arrive. It assumes that features
// without statistics vary, since most do; if so, these are the features it will draw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "puforest/compiler.hpp"
#include "puforest/kernels.hpp"
#include "puforest/masses.hpp"
#include "puforest/scan.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The rows of a node with a certain value of a feature.
struct ValueBin {
    double value;
    Counts rows;
};

// Merged statistics of a feature at a node.
struct MergedFeature {
    FeatureId feature;
    double low = std::numeric_limits<double>::infinity();  // above high if all values are missing
    double high = -std::numeric_limits<double>::infinity();
    Counts missing{};
    std::vector<ValueBin> bins{};  // in ascending order, if the search needs all values
    std::vector<Counts> left{};    // of each threshold, in the order in which they are drawn
};

struct NeededCount {
    FeatureId feature;
    double threshold;
};

// What a search needs before it can choose a split.
struct Needs {
    std::vector<FeatureId> ranges;
    std::vector<NeededCount> counts;

    void clear() {
        ranges.clear();
        counts.clear();
    }
};

// A column as the search sees it. Codes are numbers of categories, ranks of bins, or 0 for the
// lowest value and 1 for the highest; in splits by random thresholds, the position of a threshold.
class MergedColumn {
public:
    MergedColumn(FeatureId feature, const MergedFeature* known, bool categorical, Needs& needs)
        : feature_(feature), known_(known), categorical_(categorical), needs_(needs) {}

    bool categorical() const { return categorical_; }
    bool has_missing() const { return known_ && known_->missing.rows() > 0; }
    Code missing_code() const { return std::numeric_limits<Code>::max(); }
    Code size() const { return known_ ? static_cast<Code>(known_->bins.size()) : 0; }
    double value(Code code) const {
        if (!known_ || categorical_) return code;
        if (!known_->bins.empty()) return known_->bins[code].value;
        return code == 0 ? known_->low : known_->high;
    }
    Code code_at_most(double t, Code, Code) const {
        if (!known_) return 0;
        const Code position = n_thresholds_++;
        if (position >= known_->left.size()) needs_.counts.push_back({feature_, t});
        return position;
    }

private:
    FeatureId feature_;
    const MergedFeature* known_;
    bool categorical_;
    Needs& needs_;
    mutable Code n_thresholds_ = 0;
};

// Has the interface of NodeScan.
class MergedScan {
public:
    using Table = std::vector<bool>;  // whether each feature is categorical
    using Column = MergedColumn;
    using Node = std::span<const MergedFeature>;

    explicit MergedScan(const Table& categorical) : categorical_(categorical) {}

    void start(const Node& node, bool) {
        node_ = node;
        needs_.clear();
    }

    // Valid after a search. Counts are only complete if no ranges are needed.
    const Needs& needs() const { return needs_; }

    const MergedFeature* find(FeatureId feature) const {
        const auto it = std::ranges::find(node_, feature, &MergedFeature::feature);
        return it == node_.end() ? nullptr : &*it;
    }

    Column column(FeatureId feature) {
        const MergedFeature* const known = find(feature);
        if (!known) needs_.ranges.push_back(feature);
        return {feature, known, categorical_[feature], needs_};
    }
    bool varies(FeatureId) const { return true; }
    void prefetch(FeatureId) const {}

    // In place of codes, the statistics of a feature; null if they are needed.
    template <class Use>
    decltype(auto) visit(FeatureId feature, Use&& use) {
        return use(find(feature));
    }

    CodeRange range(const MergedFeature* known) const {
        if (!known || known->low < known->high) return {0, 1};
        return known->low == known->high ? CodeRange{0, 0} : CodeRange{1, 0};
    }

    ValueRange<Counts> value_range(const MergedFeature* known, Code) const {
        return {range(known), known->missing};
    }

    Counts left_of(const MergedFeature* known, Code position) const {
        return known && position < known->left.size() ? known->left[position] : Counts{};
    }

    Cuts<Counts> cuts(FeatureId feature) {
        cuts_.clear();
        left_.clear();
        Counts left;
        const std::span<const Bin<Counts>> all = bins(feature);
        for (std::size_t i = 0; i + 1 < all.size(); ++i) {
            cuts_.push_back({all[i].code, all[i + 1].code});
            left_.push_back(left += all[i].rows);
        }
        return {cuts_, left_};
    }

    std::span<const Bin<Counts>> bins(FeatureId feature) {
        const MergedFeature* const known = find(feature);
        bins_.clear();
        if (!known) {
            bins_ = {{0, {}}, {1, {}}};
            return bins_;
        }
        for (const auto& [value, rows] : known->bins) {
            const std::size_t code =
                categorical_[feature] ? static_cast<std::size_t>(value) : bins_.size();
            bins_.push_back({static_cast<Code>(code), rows});
        }
        if (known->missing.rows() > 0) {
            bins_.push_back({std::numeric_limits<Code>::max(), known->missing});
        }
        return bins_;
    }

private:
    const Table& categorical_;
    Node node_;
    Needs needs_;
    std::vector<Bin<Counts>> bins_;
    std::vector<Cut> cuts_;
    std::vector<Counts> left_;
};

}  // namespace puforest
