#include "puforest/parts.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "puforest/masses.hpp"
#include "puforest/rng.hpp"
#include "puforest/row_blocks.hpp"

namespace puforest {
namespace {

// The rows of each value of a range: a hash table with linear probing.
class ValueTable {
public:
    struct Entry {
        std::uint32_t range;
        double value;
        Counts rows;
    };

    void add(std::uint32_t range, double value, bool labeled) {
        if (2 * entries_.size() >= slots_.size()) grow();
        std::uint32_t& slot = slot_of(range, value);
        if (slot == kEmpty) {
            slot = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({range, value, {}});
        }
        entries_[slot].rows.add(0, labeled, {});
    }

    std::vector<Entry> sorted() && {
        std::ranges::sort(entries_, {},
                          [](const Entry& e) { return std::tuple(e.range, e.value); });
        return std::move(entries_);
    }

private:
    static constexpr std::uint32_t kEmpty = 0xffffffff;

    std::uint32_t& slot_of(std::uint32_t range, double value) {
        std::size_t slot = derive(std::bit_cast<std::uint64_t>(value), range);
        for (;; ++slot) {
            std::uint32_t& found = slots_[slot & (slots_.size() - 1)];
            if (found == kEmpty) return found;
            const Entry& entry = entries_[found];
            if (entry.range == range && entry.value == value) return found;
        }
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), kEmpty);
        for (std::uint32_t i = 0; i < entries_.size(); ++i) {
            slot_of(entries_[i].range, entries_[i].value) = i;
        }
    }

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> slots_;
};

void check(const PartRequest& r, std::size_t n_features) {
    const auto in_order = [](std::span<const std::uint32_t> begin, std::size_t n) {
        return !begin.empty() && begin[0] == 0 && begin.back() == n &&
               std::ranges::is_sorted(begin);
    };
    const auto known = [&](FeatureId f) { return f < n_features; };
    const auto n_nodes = static_cast<std::int64_t>(r.range_begin.size()) - 1;
    const auto open = [&](std::int32_t node) { return node >= -1 && node < n_nodes; };
    if (!in_order(r.range_begin, r.range_feature.size()) ||
        !in_order(r.count_begin, r.count_feature.size()) ||
        r.count_begin.size() != r.range_begin.size() ||
        r.count_threshold.size() != r.count_feature.size() ||
        r.counted_by_value.size() != n_features || r.offset.empty() ||
        r.offset.back() != static_cast<std::int64_t>(r.node_at.size()) ||
        !std::ranges::all_of(r.range_feature, known) ||
        !std::ranges::all_of(r.count_feature, known) || !std::ranges::all_of(r.node_at, open)) {
        throw std::invalid_argument("the request is not valid");
    }
}

}  // namespace

template <class Table>
Answer<VectorOf> scan_part(const Table& x, std::span<const std::uint8_t> labeled,
                           std::span<const std::int32_t> leaves, const PartRequest& request) {
    check(request, x.cols);
    const std::size_t n_trees = request.offset.size() - 1;
    if (labeled.size() != x.rows || leaves.size() != x.rows * n_trees) {
        throw std::invalid_argument("the rows do not match");
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::size_t n_ranges = request.range_feature.size();
    Answer<VectorOf> answer;
    answer.low.assign(n_ranges, kInfinity);
    answer.high.assign(n_ranges, -kInfinity);
    answer.missing.resize(2 * n_ranges);
    answer.left.resize(2 * request.count_feature.size());
    ValueTable values;

    const auto scan = [&](const auto* row, std::ptrdiff_t stride, std::size_t node,
                          bool is_labeled) {
        const auto at = [&](FeatureId f) -> double {
            return row[static_cast<std::ptrdiff_t>(f) * stride] + 0.0;  // -0.0 becomes 0.0
        };
        const std::size_t in_pair = is_labeled ? 0 : 1;
        for (std::uint32_t r = request.range_begin[node]; r < request.range_begin[node + 1]; ++r) {
            const FeatureId f = request.range_feature[r];
            const double v = at(f);
            if (v != v) {
                ++answer.missing[2 * r + in_pair];
            } else if (request.counted_by_value[f]) {
                values.add(r, v, is_labeled);
            } else {
                answer.low[r] = std::min(answer.low[r], v);
                answer.high[r] = std::max(answer.high[r], v);
            }
        }
        for (std::uint32_t c = request.count_begin[node]; c < request.count_begin[node + 1]; ++c) {
            answer.left[2 * c + in_pair] +=
                at(request.count_feature[c]) <= request.count_threshold[c];
        }
    };
    RowBlocks<Table> blocks(x, nullptr);
    const std::size_t most = blocks.block_rows();
    for (std::size_t first = 0; first < x.rows; first += most) {
        blocks.read(first, std::min(most, x.rows - first), false, [&](const auto& block) {
            for (std::size_t k = 0; k < block.size; ++k) {
                const std::size_t i = block.first + k;
                for (std::size_t t = 0; t < n_trees; ++t) {
                    const auto leaf =
                        static_cast<std::size_t>(request.offset[t] + leaves[i * n_trees + t]);
                    const std::int32_t node = request.node_at[leaf];
                    if (node < 0) continue;
                    scan(block.row[k], block.col_stride, static_cast<std::size_t>(node),
                         labeled[i] != 0);
                }
            }
        });
    }
    for (const auto& [range, value, rows] : std::move(values).sorted()) {
        answer.low[range] = std::min(answer.low[range], value);
        answer.high[range] = std::max(answer.high[range], value);
        answer.bin_range.push_back(range);
        answer.bin_value.push_back(value);
        answer.bin_rows.insert(answer.bin_rows.end(), {rows.labeled, rows.unlabeled});
    }
    return answer;
}

#define PUFOREST_SCAN_PART(Table)                                                    \
    template Answer<VectorOf> scan_part(const Table&, std::span<const std::uint8_t>, \
                                        std::span<const std::int32_t>, const PartRequest&);
PUFOREST_SCAN_PART(Matrix<float>)
PUFOREST_SCAN_PART(Matrix<double>)
PUFOREST_SCAN_PART(SparseMatrix<float>)
PUFOREST_SCAN_PART(SparseMatrix<double>)
#undef PUFOREST_SCAN_PART

}  // namespace puforest
