#include "puforest/columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace puforest {
namespace {

// Finite floats as unsigned integers in the same order: flip all bits of the negative ones and
// the sign bit of the others. -0.0 becomes +0.0 first, since the two compare equal.
template <class Real>
struct Key {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    static constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);

    static Bits of(Real x) {
        const Bits bits = std::bit_cast<Bits>(x + Real{0});
        return bits & kSign ? ~bits : bits | kSign;
    }
    static Real value(Bits key) { return std::bit_cast<Real>(key & kSign ? key & ~kSign : ~key); }
};

// Distinct keys of a column that has few, numbered in order of appearance.
template <class Bits>
class SmallSet {
public:
    static constexpr unsigned kMost = 256;

    // The number of `key`, or kMost if it is one key too many.
    unsigned number(Bits key) {
        std::size_t slot = static_cast<std::size_t>(hash(key));
        while (number_[slot] != kEmpty) {
            if (key_[slot] == key) return number_[slot];
            slot = (slot + 1) % kSlots;
        }
        if (keys.size() == kMost) return kMost;
        key_[slot] = key;
        number_[slot] = static_cast<std::uint16_t>(keys.size());
        keys.push_back(key);
        return number_[slot];
    }

    std::vector<Bits> keys;

private:
    static constexpr std::size_t kSlots = 1024;
    static constexpr std::uint16_t kEmpty = 0xffff;

    static std::uint64_t hash(Bits key) {
        return (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ull) >> 54;  // 10 bits
    }

    std::array<Bits, kSlots> key_{};
    std::array<std::uint16_t, kSlots> number_ = [] {
        std::array<std::uint16_t, kSlots> empty;
        empty.fill(kEmpty);
        return empty;
    }();
};

}  // namespace

// Encodes one column after another, with its own scratch memory.
template <class Real>
class ColumnEncoder {
    using Bits = typename Key<Real>::Bits;
    struct Item {
        Bits key;
        Row row;
    };

public:
    explicit ColumnEncoder(Arena& memory) : memory_(memory) {}

    // `values` holds the column by row position.
    Column encode(std::span<const Real> values) {
        Column column;
        column.single_ = sizeof(Real) == 4;
        if (!encode_few(values, column)) encode_many(values, column);
        return column;
    }

private:
    // At most 256 distinct values: number them by hash as they appear, then rename the numbers
    // to ranks. Returns false, having done little, when there are more.
    bool encode_few(std::span<const Real> values, Column& column) {
        SmallSet<Bits> set;
        numbers_.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const unsigned number = set.number(Key<Real>::of(values[i]));
            if (number == set.kMost) return false;
            numbers_[i] = static_cast<std::uint8_t>(number);
        }
        std::vector<Bits> sorted = set.keys;
        std::sort(sorted.begin(), sorted.end());
        std::array<std::uint8_t, 256> rank{};
        for (std::size_t i = 0; i < set.keys.size(); ++i) {
            rank[i] = static_cast<std::uint8_t>(
                std::lower_bound(sorted.begin(), sorted.end(), set.keys[i]) - sorted.begin());
        }
        store_values(sorted.size(), column, [&](std::size_t i) { return sorted[i]; });
        auto* codes = allocate_codes<std::uint8_t>(values.size(), column);
        for (std::size_t i = 0; i < values.size(); ++i) codes[i] = rank[numbers_[i]];
        return true;
    }

    void encode_many(std::span<const Real> values, Column& column) {
        items_.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            items_[i] = {Key<Real>::of(values[i]), static_cast<Row>(i)};
        }
        radix_sort();
        std::size_t distinct = 0;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (i == 0 || items_[i].key != items_[i - 1].key) starts_next(distinct++, i);
        }
        store_values(distinct, column, [&](std::size_t i) { return items_[start_[i]].key; });
        if (distinct <= std::size_t{1} << 16) {
            scatter_ranks(allocate_codes<std::uint16_t>(values.size(), column), distinct);
        } else {
            scatter_ranks(allocate_codes<std::uint32_t>(values.size(), column), distinct);
        }
    }

    void starts_next(std::size_t rank, std::size_t position) {
        if (start_.size() <= rank) start_.resize(std::max<std::size_t>(1024, 2 * rank));
        start_[rank] = static_cast<Row>(position);
    }

    template <class CodeType>
    void scatter_ranks(CodeType* codes, std::size_t distinct) {
        for (std::size_t rank = 0; rank < distinct; ++rank) {
            const std::size_t end = rank + 1 < distinct ? start_[rank + 1] : items_.size();
            for (std::size_t i = start_[rank]; i < end; ++i) {
                codes[items_[i].row] = static_cast<CodeType>(rank);
            }
        }
    }

    // Least significant digit first, a byte at a time; a digit that all keys share is skipped
    // (whole numbers stored as double share most of them).
    void radix_sort() {
        constexpr std::size_t kDigits = sizeof(Bits);
        std::array<std::array<std::size_t, 256>, kDigits> count{};
        for (const Item& item : items_) {
            for (std::size_t d = 0; d < kDigits; ++d) ++count[d][(item.key >> (8 * d)) & 255];
        }
        other_.resize(items_.size());
        for (std::size_t d = 0; d < kDigits; ++d) {
            const std::size_t shared = count[d][(items_[0].key >> (8 * d)) & 255];
            if (shared == items_.size()) continue;
            std::size_t begin = 0;
            for (std::size_t& c : count[d]) begin += std::exchange(c, begin);
            for (const Item& item : items_) other_[count[d][(item.key >> (8 * d)) & 255]++] = item;
            items_.swap(other_);
        }
    }

    template <class KeyAt>
    void store_values(std::size_t n, Column& column, KeyAt key_at) {
        column.size_ = static_cast<Code>(n);
        column.values_ = std::make_unique_for_overwrite<std::byte[]>(n * sizeof(Real));
        auto* values = reinterpret_cast<Real*>(column.values_.get());
        for (std::size_t i = 0; i < n; ++i) values[i] = Key<Real>::value(key_at(i));
    }

    template <class CodeType>
    CodeType* allocate_codes(std::size_t n, Column& column) {
        column.width_ = sizeof(CodeType);
        std::byte* const codes = memory_.take(n * sizeof(CodeType));
        column.codes_ = codes;
        return reinterpret_cast<CodeType*>(codes);
    }

    Arena& memory_;
    std::vector<std::uint8_t> numbers_;
    std::vector<Item> items_, other_;
    std::vector<Row> start_;
};

// Fill by_row. The widest codes come first in a row, so that all are aligned.
void store_by_row(Columns& columns, unsigned n_threads, const Poll& poll) {
    std::uint32_t bytes = 0;
    for (const unsigned width : {4u, 2u, 1u}) {
        for (Column& column : columns.column) {
            if (column.width_ != width) continue;
            column.offset_ = bytes;
            bytes += width;
        }
    }
    columns.row_bytes = (std::size_t{bytes} + 3) / 4 * 4;
    std::byte* const by_row = columns.memory->take(columns.row_bytes * columns.n_rows);
    columns.by_row = by_row;
    constexpr std::size_t kRows = 256;  // a block of rows that fits the second-level cache
    const std::size_t n_blocks = (columns.n_rows + kRows - 1) / kRows;
    run_tasks(
        n_blocks, n_threads,
        [&](std::size_t block, const StopFlag&) {
            const std::size_t first = block * kRows;
            const std::size_t last = std::min<std::size_t>(first + kRows, columns.n_rows);
            for (const Column& column : columns.column) {
                std::byte* const target = by_row + column.offset();
                column.visit([&](const auto* codes) {
                    for (std::size_t i = first; i < last; ++i) {
                        std::memcpy(target + i * columns.row_bytes, codes + i, sizeof(*codes));
                    }
                });
            }
        },
        poll);
}

template <class Real>
Columns encode(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labelled,
               unsigned n_threads, const Poll& poll) {
    // A block of neighbouring columns is copied out of X before it is encoded: in a row-major
    // X they share cache lines. The copy stays below kBlockBytes where n allows.
    constexpr std::size_t kBlockBytes = std::size_t{64} << 20;
    const std::size_t n = order.size();
    const bool column_major = x.row_stride == 1;
    const std::size_t per_line = column_major ? 1 : 64 / sizeof(Real);
    const std::size_t width =
        std::clamp<std::size_t>(kBlockBytes / (n * sizeof(Real)), 1, per_line);
    const std::size_t n_blocks = (x.cols + width - 1) / width;

    Columns result;
    result.column.resize(x.cols);
    result.n_labelled = n_labelled;
    result.n_rows = static_cast<std::uint32_t>(n);
    std::atomic<std::size_t> next{0};
    const auto encode_blocks = [&](std::size_t, const StopFlag& stop) {
        std::vector<Real> copy(n * width);
        ColumnEncoder<Real> encoder(*result.memory);
        for (std::size_t block; (block = next++) < n_blocks && !stop;) {
            const std::size_t first = block * width;
            const std::size_t last = std::min(first + width, x.cols);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = first; j < last; ++j) {
                    copy[(j - first) * n + i] = x.at(order[i], j);
                }
            }
            for (std::size_t j = first; j < last && !stop; ++j) {
                result.column[j] = encoder.encode(std::span(copy).subspan((j - first) * n, n));
            }
        }
    };
    const std::size_t n_workers = std::min<std::size_t>(n_blocks, std::max(1u, n_threads));
    run_tasks(n_workers, n_threads, encode_blocks, poll);
    store_by_row(result, n_threads, poll);
    return result;
}

template Columns encode(const Matrix<float>&, std::span<const Row>, std::uint32_t, unsigned,
                        const Poll&);
template Columns encode(const Matrix<double>&, std::span<const Row>, std::uint32_t, unsigned,
                        const Poll&);

}  // namespace puforest
