#include "puforest/workset.hpp"

#include <algorithm>
#include <array>

#include "puforest/kernels.hpp"

namespace puforest {
namespace {

constexpr std::size_t kGroup = kCacheLine;  // rows copied at a time: a cache line of a byte column
using RowPointers = std::array<const std::byte*, kGroup + Lines::kPadding>;

}  // namespace

void Workset::copy(const Workset& source, const NodeRows& rows) {
    // Round groups up to whole vectors, and columns to whole cache lines. With an even number of
    // cache lines, the columns of a tile would compete for the same cache sets.
    const Columns& columns = *columns_;
    constexpr std::size_t kVector = 32;
    distinct_ = true;
    unlabeled_begin_ = round_up(rows.labeled.size(), kVector);
    extent_ = unlabeled_begin_ + round_up(rows.unlabeled.size(), kVector);
    stride_ = round_up(extent_, kCacheLine);
    if (stride_ >= 16 * kCacheLine && stride_ / kCacheLine % 2 == 0) stride_ += kCacheLine;

    const auto original = [&](Row row) {
        return source.original_.empty() ? row : source.original_[row];
    };
    // Positions without a row hold a copy of some row.
    original_.assign(
        extent_, original(rows.size() > rows.labeled.size() ? rows.unlabeled[0] : rows.labeled[0]));
    const auto rename = [&](std::span<Row> group, std::size_t position) {
        for (Row& row : group) {
            original_[position] = original(row);
            row = static_cast<Row>(position++);
        }
    };
    rename(rows.labeled, 0);
    rename(rows.unlabeled, unlabeled_begin_);

    const std::size_t needed = stride_ * columns.row_bytes;
    if (capacity_ < needed) {
        // Room for any copy of the source, so that the next copy does not allocate. Unused memory
        // costs nothing.
        const std::size_t capacity =
            std::max(needed, (source.most_to_copy() + 4 * kCacheLine) * columns.row_bytes);
        memory_.reset();
        capacity_ = 0;
        memory_ = allocate(capacity);
        capacity_ = capacity;
    }
    const Kernels& loops = *columns.loops;
    RowPointers some;
    RowPointers next;
    next.fill(columns.by_row);
    const auto point_to = [&](std::size_t begin) {
        for (std::size_t r = 0; r < kGroup && begin + r < extent_; ++r) {
            next[r] = columns.by_row + std::size_t{original_[begin + r]} * columns.row_bytes;
        }
    };
    point_to(0);
    for (std::size_t begin = 0; begin < extent_; begin += kGroup) {
        some = next;
        point_to(begin + kGroup);
        const std::size_t n = std::min(kGroup, extent_ - begin);
        const auto copy_codes = [&]<class CodeType>(CodeType, std::size_t first, std::size_t last) {
            loops.of<CodeType>().transpose(
                {some.data(), n, first, (last - first) / sizeof(CodeType), next.data()},
                memory_.get() + first * stride_ + begin * sizeof(CodeType),
                stride_ * sizeof(CodeType));
        };
        const auto& [wide, middle, all] = columns.width_ends;
        copy_codes(std::uint32_t{}, 0, wide);
        copy_codes(std::uint16_t{}, wide, middle);
        copy_codes(std::uint8_t{}, middle, all);
    }

    if (all_weights_.uniform()) return;
    positive_.resize(all_weights_.checked ? extent_ : rows.labeled.size());
    sample_.resize(extent_);
    for (std::size_t i = 0; i < positive_.size(); ++i) {
        positive_[i] = all_weights_.positive[original_[i]];
    }
    for (std::size_t i = 0; i < extent_; ++i) sample_[i] = all_weights_.sample[original_[i]];
    weights_ = {positive_.data(), sample_.data(), all_weights_.checked};
}

}  // namespace puforest
