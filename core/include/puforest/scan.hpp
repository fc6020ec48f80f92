// Statistics of the rows of a node on either side of a threshold. Reading only: ranges, counts and
// histograms of subsets of the rows can be merged.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "puforest/columns.hpp"
#include "puforest/compiler.hpp"
#include "puforest/kernels.hpp"
#include "puforest/masses.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

// A position between two neighboring codes of a node.
struct Cut {
    Code below;
    Code above;
};

// All cuts of a node by a feature, and the statistics of the rows to the left of each. Rows
// without a value have the largest code of the column, so that only the last cut can be above them.
template <class Stats>
struct Cuts {
    std::span<const Cut> place;
    std::span<const Stats> left;
};

// The rows of a node with a certain code.
template <class Stats>
struct Bin {
    Code code;
    Stats rows;
};

// The codes of the values at a node, and the rows without a value.
template <class Stats>
struct ValueRange {
    CodeRange codes;
    Stats missing;
};

// The codes of the rows of a node: the whole column of the workset with a mask, or a buffer of only
// those rows without one. Codes of labeled rows come before `unlabeled_begin`.
template <class CodeType>
struct NodeCodes {
    const CodeType* codes;
    const std::uint8_t* mask;
    std::size_t unlabeled_begin;
    std::size_t size;
};

// The same for a column with gaps, always with a mask.
struct NodeCodesWithGaps {
    CodesWithGaps codes;
    const std::uint8_t* mask;
    std::size_t unlabeled_begin;
    std::size_t size;
};

template <class Stats>
class NodeScan {
public:
    using Table = Columns;
    using Column = puforest::Column;
    struct Node {
        const Workset& set;
        const NodeRows& rows;
    };

    explicit NodeScan(const Columns& columns) : columns_(columns), loops_(*columns.loops) {}

    const Column& column(FeatureId feature) const { return columns_.column[feature]; }
    bool varies(FeatureId feature) const { return columns_.varies[feature]; }

    // Start with the rows of a node. `few_thresholds`: each feature is scanned for a few thresholds
    // instead of all cuts.
    PUFOREST_INLINE void start(const Node& node, bool few_thresholds) {
        set_ = &node.set;
        rows_ = node.rows;
        // Rows without duplicates can be counted directly in the column.
        maskable_ = std::is_same_v<Stats, Counts> && few_thresholds && set_->distinct();
        has_mask_ = false;
    }

    // Prefetch the codes of a feature that will be read soon.
    void prefetch(FeatureId feature) const { set_->prefetch(feature); }

    // Call `use(const NodeCodes<CodeType>&)` or `use(const NodeCodesWithGaps&)` with the codes of a
    // feature that varies in the fit.
    template <class Use>
    decltype(auto) visit(FeatureId feature, Use&& use) {
        return set_->visit(feature, [&]<class Codes>(Codes column) {
            if constexpr (!std::is_same_v<Codes, CodesWithGaps>) {
                return use(fetch(column));
            } else {
                if constexpr (std::is_same_v<Stats, Counts>) {
                    if (reads_whole_columns(1)) return use(with_mask(column));
                }
                return use(gather(column));
            }
        });
    }

    template <class CodeType>
    PUFOREST_INLINE CodeRange range(const NodeCodes<CodeType>& here) const {
        const KernelsOf<CodeType>& loops = loops_.template of<CodeType>();
        return here.mask ? loops.masked_range(here.codes, here.mask, here.size)
                         : loops.range(here.codes, here.size);
    }

    // The same without the code `missing` of the rows without a value. If there is nothing else,
    // low is above high.
    template <class CodeType>
    ValueRange<Stats> value_range(const NodeCodes<CodeType>& here, Code missing) const {
        const KernelsOf<CodeType>& loops = loops_.template of<CodeType>();
        const auto part = [&](std::size_t begin, std::size_t end) {
            const CodeType* const codes = here.codes + begin;
            return here.mask
                       ? loops.masked_range_below(codes, here.mask + begin, end - begin, missing)
                       : loops.range_below(codes, end - begin, missing);
        };
        const CodesBelow labeled = part(0, here.unlabeled_begin);
        const CodesBelow unlabeled = part(here.unlabeled_begin, here.size);
        ValueRange<Stats> found{merge(labeled, unlabeled), {}};
        if constexpr (std::is_same_v<Stats, Counts>) {
            found.missing = {labeled.n_other, unlabeled.n_other};
        } else if (labeled.n_other + unlabeled.n_other > 0) {
            for_each_row([&](std::size_t i, Row row, bool is_labeled) {
                if (here.codes[i] == missing) found.missing.add(row, is_labeled, set_->weights());
            });
        }
        return found;
    }

    ValueRange<Stats> value_range(const NodeCodesWithGaps& here, Code) const {
        const auto part = [&](std::size_t begin, std::size_t end) {
            return loops_.with_gaps.masked_range(here.codes.from(begin), here.mask + begin,
                                                 end - begin);
        };
        const CodesBelow labeled = part(0, here.unlabeled_begin);
        const CodesBelow unlabeled = part(here.unlabeled_begin, here.size);
        return {merge(labeled, unlabeled), {labeled.n_other, unlabeled.n_other}};
    }

    // Statistics of the rows with codes of at most `code`.
    template <class CodeType>
    PUFOREST_INLINE Stats left_of(const NodeCodes<CodeType>& here, Code code) const {
        if constexpr (std::is_same_v<Stats, Counts>) {
            const KernelsOf<CodeType>& loops = loops_.template of<CodeType>();
            const auto count = [&](std::size_t begin, std::size_t end) PUFOREST_INLINE_LAMBDA {
                const CodeType* const codes = here.codes + begin;
                return here.mask ? loops.masked_count(codes, here.mask + begin, end - begin, code)
                                 : loops.count(codes, end - begin, code);
            };
            return {count(0, here.unlabeled_begin), count(here.unlabeled_begin, here.size)};
        } else {
            Stats left;
            for_each_row([&](std::size_t i, Row row, bool labeled) {
                if (here.codes[i] <= code) left.add(row, labeled, set_->weights());
            });
            return left;
        }
    }

    Stats left_of(const NodeCodesWithGaps& here, Code code) const {
        const auto count = [&](std::size_t begin, std::size_t end) {
            return loops_.with_gaps.masked_count(here.codes.from(begin), here.mask + begin,
                                                 end - begin, code);
        };
        return {count(0, here.unlabeled_begin), count(here.unlabeled_begin, here.size)};
    }

    // All cuts of a feature; none if it is constant at the node. Valid until the next call.
    Cuts<Stats> cuts(FeatureId feature) {
        n_cuts_ = 0;
        left_ = Stats{};
        set_->visit(feature, [&](auto column) {
            for_each_code(
                column, [&](std::size_t most) { reserve_cuts(most); },
                [&](Code code, const Stats& some) { add_cut_before(code, some); });
        });
        return {{cuts_.data(), n_cuts_}, {left_of_cut_.data(), n_cuts_}};
    }

    // The rows of each code of a feature, in ascending order; at most one if it is constant at the
    // node. Valid until the next call.
    std::span<const Bin<Stats>> bins(FeatureId feature) {
        found_.clear();
        set_->visit(feature, [&](auto column) {
            for_each_code(
                column, [](std::size_t) {},
                [&](Code code, const Stats& some) {
                    if (found_.empty() || found_.back().code != code) found_.push_back({code, {}});
                    found_.back().rows += some;
                });
        });
        return found_;
    }

private:
    void make_mask() {
        has_mask_ = true;
        mask_.assign(set_->extent(), 0);
        for (const Row row : rows_.labeled) mask_[row] = 255;
        for (const Row row : rows_.unlabeled) mask_[row] = 255;
    }

    static CodeRange merge(const CodesBelow& a, const CodesBelow& b) {
        return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }

    // Whether to read whole columns with a mask, given the bytes per code.
    PUFOREST_INLINE bool reads_whole_columns(std::size_t width) const {
        return maskable_ && set_->extent() * width <= kBytesPerRow * rows_.size();
    }

    template <class CodeType>
    PUFOREST_INLINE NodeCodes<CodeType> fetch(const CodeType* column) {
        if (!reads_whole_columns(sizeof(CodeType))) return gather(column);
        if (!has_mask_) make_mask();
        return {column, mask_.data(), set_->unlabeled_begin(), set_->extent()};
    }

    NodeCodesWithGaps with_mask(const CodesWithGaps& column) {
        if (!has_mask_) make_mask();
        return {column, mask_.data(), set_->unlabeled_begin(), set_->extent()};
    }

    template <class Codes>
    PUFOREST_INLINE auto gather(const Codes& column) {
        using CodeType = std::remove_cvref_t<decltype(column[0])>;
        const std::size_t n = rows_.size();
        if (buffer_.size() < n * sizeof(CodeType)) buffer_.resize(n * sizeof(CodeType));
        auto* const codes = reinterpret_cast<CodeType*>(buffer_.data());
        for_each_row([&](std::size_t i, Row row, bool) { codes[i] = column[row]; });
        return NodeCodes<CodeType>{codes, nullptr, rows_.labeled.size(), n};
    }

    // Call use(code, some of its rows) in ascending order of the codes of a feature, after
    // reserve(an upper bound of their number). No calls if all codes are equal; then there may be
    // one.
    template <class Codes, class Reserve, class Use>
    void for_each_code(const Codes& column, Reserve&& reserve, Use&& use) {
        constexpr bool kHasGaps = std::is_same_v<Codes, CodesWithGaps>;
        if constexpr (std::is_same_v<Stats, Counts> && (kHasGaps || sizeof(column[0]) == 1)) {
            if (rows_.size() >= kManyRows) {
                constexpr std::size_t kBins = 256 + kHasGaps;
                reserve(kBins);
                count_bytes<kBins>(column, use);
                return;
            }
        }
        const auto here = gather(column);
        const CodeRange codes = range(here);
        if (codes.low == codes.high) return;
        const std::size_t n = rows_.size();
        const std::size_t n_bins = std::size_t{codes.high} - codes.low + 1;
        reserve(std::min(n, n_bins));
        // Sums depend on the order of summation, so for them the result depends on this limit.
        const bool few_bins = n_bins <= kBinsPerRow * n;
        if (few_bins || (std::is_same_v<Stats, Counts> && n_bins <= kMostBins)) {
            fill_bins(here.codes, codes.low, n_bins, use);
        } else {
            sort_rows(here.codes, use);
        }
    }

    // Fill a bin for each code in one pass, and mark it unless most bins are filled anyway.
    template <class CodeType, class Use>
    void fill_bins(const CodeType* here, Code low, std::size_t n_bins, Use&& use) {
        if (bins_.size() < n_bins) bins_.resize(n_bins);
        const bool dense = n_bins <= rows_.size();
        const std::size_t n_words = (n_bins + 63) / 64;
        if (marks_.size() < n_words) marks_.resize(n_words);
        for_each_row([&](std::size_t i, Row row, bool labeled) {
            const std::size_t bin = here[i] - low;
            bins_[bin].add(row, labeled, set_->weights());
            if (!dense) marks_[bin / 64] |= std::uint64_t{1} << bin % 64;
        });
        const auto empty = [&](std::size_t bin) {
            use(low + static_cast<Code>(bin), bins_[bin]);
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

    // Sort the rows by code if there are too many codes for bins.
    template <class CodeType, class Use>
    void sort_rows(const CodeType* here, Use&& use) {
        sorted_.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            sorted_.push_back(std::uint64_t{here[i]} << 32 | i);
        }
        std::sort(sorted_.begin(), sorted_.end());
        const std::size_t n_labeled = rows_.labeled.size();
        for (const std::uint64_t item : sorted_) {
            const auto code = static_cast<Code>(item >> 32);
            const std::size_t i = item & 0xffffffffu;
            const bool labeled = i < n_labeled;
            Stats one;
            one.add(labeled ? rows_.labeled[i] : rows_.unlabeled[i - n_labeled], labeled,
                    set_->weights());
            use(code, one);
        }
    }

    // The same for many rows of a byte column: directly from the column into several sets of bins
    // in turn, since an addition to a bin has to wait for the previous one.
    template <std::size_t kBins, class Codes, class Use>
    void count_bytes(const Codes& column, Use&& use)
        requires std::is_same_v<Stats, Counts>
    {
        constexpr std::size_t kSets = 4;
        using Bins = std::array<std::array<std::uint32_t, kBins>, kSets>;
        const auto count = [column](std::span<const Row> rows) {
            Bins bins{};
            std::size_t i = 0;
            for (; i + kSets <= rows.size(); i += kSets) {
                for (std::size_t set = 0; set < kSets; ++set) ++bins[set][column[rows[i + set]]];
            }
            for (; i < rows.size(); ++i) ++bins[0][column[rows[i]]];
            for (std::size_t set = 1; set < kSets; ++set) {
                for (std::size_t bin = 0; bin < kBins; ++bin) bins[0][bin] += bins[set][bin];
            }
            return bins[0];
        };
        const auto labeled = count(rows_.labeled);
        const auto unlabeled = count(rows_.unlabeled);
        for (Code code = 0; code < labeled.size(); ++code) {
            const Counts here{labeled[code], unlabeled[code]};
            if (here.rows() > 0) use(code, here);
        }
    }

    void reserve_cuts(std::size_t most) {
        if (cuts_.size() >= most) return;
        left_of_cut_.resize(most);
        cuts_.resize(most);  // last, since its size represents both
    }

    // Called with ascending codes and the statistics of the rows of each.
    void add_cut_before(Code code, const Stats& some) {
        if (left_.rows() > 0 && code != last_code_) {
            cuts_[n_cuts_] = {last_code_, code};
            left_of_cut_[n_cuts_++] = left_;
        }
        left_ += some;
        last_code_ = code;
    }

    // use(position in the node, row, is labeled)
    template <class Use>
    PUFOREST_INLINE void for_each_row(Use&& use) const {
        const std::size_t n_labeled = rows_.labeled.size();
        for (std::size_t i = 0; i < n_labeled; ++i) use(i, rows_.labeled[i], true);
        for (std::size_t i = 0; i < rows_.unlabeled.size(); ++i) {
            use(n_labeled + i, rows_.unlabeled[i], false);
        }
    }

    // Reading a whole column with a mask is faster than gathering the rows of the node up to this
    // many bytes of codes per row.
    static constexpr std::size_t kBytesPerRow = 16;

    // Bins are faster than sorting up to this many bins per row and, for counts, where empty bins
    // cost nothing, up to this many in total.
    static constexpr std::size_t kBinsPerRow = 4;
    static constexpr std::size_t kMostBins = std::size_t{1} << 16;

    // Minimum number of rows for which clearing 256 bins pays off.
    static constexpr std::size_t kManyRows = 256;

    const Columns& columns_;
    const Kernels& loops_;
    const Workset* set_ = nullptr;
    NodeRows rows_;
    bool maskable_ = false;
    bool has_mask_ = false;
    std::vector<std::uint8_t> mask_;
    std::vector<std::byte> buffer_;
    std::vector<Stats> bins_;           // all empty between searches
    std::vector<std::uint64_t> marks_;  // a bit for each nonempty bin
    std::vector<std::uint64_t> sorted_;
    std::vector<Bin<Stats>> found_;
    std::vector<Cut> cuts_;
    std::vector<Stats> left_of_cut_;
    std::size_t n_cuts_ = 0;
    Stats left_;          // statistics up to last_code_
    Code last_code_ = 0;  // the highest code so far
};

}  // namespace puforest
