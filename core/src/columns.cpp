#include "puforest/columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "puforest/kernels.hpp"

namespace puforest {
namespace {

// Finite floats as unsigned integers in the same order: flip all bits of negative numbers and the
// sign bit of the others. -0.0 becomes +0.0 first, since the two compare equal.
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

// Distinct keys of a column with few values, numbered in order of appearance.
template <class Bits>
class SmallSet {
public:
    static constexpr unsigned kMost = 256;

    // The number of `key`, or kMost if there are too many keys.
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

// Encodes columns one after another, reusing its scratch memory.
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
        const Survey found = survey(values);
        const double most = std::min<double>(65535, values.size());
        if (found.whole_within(255)) {
            encode_whole<std::uint8_t>(values, found, column);
        } else if (!encode_few(values, column)) {
            if (found.whole_within(most)) {
                encode_whole<std::uint16_t>(values, found, column);
            } else {
                encode_many(values, column);
            }
        }
        return column;
    }

private:
    struct Survey {
        Real low;
        Real high;
        bool whole;  // all values are integers of at most 32 bits

        bool whole_within(double distance) const {
            return whole && std::abs(double{low}) < 1e9 && double{high} - double{low} <= distance;
        }
    };

    // Integers within a small range: a table from number to rank.
    template <class CodeType>
    void encode_whole(std::span<const Real> values, const Survey& found, Column& column) {
        column.first_ = found.low;
        column.size_ = static_cast<Code>(found.high - found.low) + 1;
        if (!column.varies()) return;
        rename_to_ranks(allocate_numbers<CodeType>(values, found.low, column), column);
    }

    // Differences from the minimum.
    template <class CodeType>
    std::span<CodeType> allocate_numbers(std::span<const Real> values, Real low, Column& column) {
        CodeType* const numbers = allocate_codes<CodeType>(values.size(), column);
        const auto first = static_cast<std::int32_t>(low);
        for (std::size_t i = 0; i < values.size(); ++i) {
            numbers[i] = static_cast<CodeType>(static_cast<std::int32_t>(values[i]) - first);
        }
        return {numbers, values.size()};
    }

    // Numbers are ranks unless some do not occur; then the column needs a table of values.
    template <class CodeType>
    void rename_to_ranks(std::span<CodeType> numbers, Column& column) {
        std::vector<std::uint8_t> seen(column.size());
        for (const CodeType number : numbers) seen[number] = 1;
        std::vector<Code> present;
        std::vector<CodeType> rank(seen.size());
        for (Code number = 0; number < seen.size(); ++number) {
            if (seen[number] == 0) continue;
            rank[number] = static_cast<CodeType>(present.size());
            present.push_back(number);
        }
        if (present.size() == seen.size()) return;
        for (CodeType& number : numbers) number = rank[number];
        const double first = column.first_;
        store_values(present.size(), column, [&](std::size_t i) {
            return Key<Real>::of(static_cast<Real>(first + present[i]));
        });
    }

    static constexpr std::size_t kLanes = 16 / sizeof(Real);
    typedef Real Lanes __attribute__((vector_size(16)));

    static Survey survey(std::span<const Real> values) {
        typedef std::int32_t Numbers __attribute__((vector_size(4 * kLanes)));
        Lanes low = Lanes{} + values[0];
        Lanes high = low;
        auto broken = low != low;
        const auto look_at = [&](Lanes x) {
            low = x < low ? x : low;
            high = x > high ? x : high;
            broken |= __builtin_convertvector(__builtin_convertvector(x, Numbers), Lanes) != x;
        };
        for (std::size_t i = 0; i + kLanes <= values.size(); i += kLanes) {
            Lanes x;
            std::memcpy(&x, values.data() + i, sizeof(x));
            look_at(x);
        }
        for (const Real x : values.last(values.size() % kLanes)) look_at(Lanes{} + x);
        for (std::size_t l = 1; l < kLanes; ++l) {
            low[0] = std::min(low[0], low[l]);
            high[0] = std::max(high[0], high[l]);
            broken[0] |= broken[l];
        }
        return {low[0], high[0], broken[0] == 0};
    }

    // At most 256 distinct values: number them in order of appearance with a hash table, then
    // replace the numbers by ranks. Returns false early if there are more.
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
        if (!column.varies()) return true;
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

    // Least significant digit first, one byte at a time; digits that all keys share are skipped
    // (integers stored as double share most of them).
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

// Fill by_row. The widest codes come first in a row, so that all codes are aligned.
void store_by_row(Columns& columns, unsigned n_threads, const Poll& poll) {
    std::uint32_t bytes = 0;
    std::size_t widest = 1;
    std::array<std::vector<const std::byte*>, 3> by_width;  // widths 4, 2, 1
    std::array<std::size_t, 3> n_columns{};
    std::array<std::size_t, 3> begin{};  // their offsets in a row
    for (std::size_t w = 0; w < 3; ++w) {
        const std::uint32_t width = 4u >> w;
        begin[w] = bytes;
        for (Column& column : columns.column) {
            if (column.width_ != width) continue;
            column.offset_ = bytes;
            bytes += width;
            widest = std::max<std::size_t>(widest, width);
            by_width[w].push_back(column.codes_);
        }
        columns.width_ends[w] = bytes;
        n_columns[w] = by_width[w].size();
        by_width[w].resize(n_columns[w] + Lines::kPadding, n_columns[w] ? by_width[w][0] : nullptr);
    }
    columns.row_bytes = round_up(bytes, widest);
    const std::size_t row_bytes = columns.row_bytes;
    std::byte* const by_row = columns.memory->take(row_bytes * columns.n_rows + Lines::kPadding);
    columns.by_row = by_row;

    const Kernels& loops = *columns.loops;
    const auto store = [&]<class CodeType>(std::size_t w, CodeType, std::size_t first,
                                           std::size_t last) {
        if (n_columns[w] == 0) return;
        std::byte* const out = by_row + first * row_bytes + begin[w];
        loops.of<CodeType>().transpose(
            {by_width[w].data(), n_columns[w], first * sizeof(CodeType), last - first}, out,
            row_bytes);
    };
    constexpr std::size_t kRows = 256;  // a block of rows that fits into the L2 cache
    const std::size_t n_blocks = (columns.n_rows + kRows - 1) / kRows;
    run_tasks(
        n_blocks, n_threads,
        [&](std::size_t block, const StopFlag&) {
            const std::size_t first = block * kRows;
            const std::size_t last = std::min<std::size_t>(first + kRows, columns.n_rows);
            store(0, std::uint32_t{}, first, last);
            store(1, std::uint16_t{}, first, last);
            store(2, std::uint8_t{}, first, last);
        },
        poll);
}

// Copy the columns [first, last) of X into contiguous columns.
template <class Real>
void copy_columns(const Matrix<Real>& x, std::span<const Row> order, std::size_t first,
                  std::size_t last, std::span<Real> out) {
    const auto row = [&](std::size_t i) {
        return x.data + static_cast<std::ptrdiff_t>(order[i]) * x.row_stride +
               static_cast<std::ptrdiff_t>(first) * x.col_stride;
    };
    constexpr std::size_t kAhead = 24;  // rows are far apart: prefetch well ahead
    const std::size_t n = order.size();
    const std::size_t width = last - first;
    for (std::size_t i = 0; i < n; ++i) {
        const Real* const next = row(std::min(i + kAhead, n - 1));
        for (std::size_t j = 0; j < width; j += kCacheLine / sizeof(Real)) {
            __builtin_prefetch(next + static_cast<std::ptrdiff_t>(j) * x.col_stride);
        }
        const Real* const here = row(i);
        for (std::size_t j = 0; j < width; ++j) {
            out[j * n + i] = here[static_cast<std::ptrdiff_t>(j) * x.col_stride];
        }
    }
}

template <class Real>
Columns encode(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labeled,
               unsigned n_threads, const Poll& poll) {
    // Neighboring columns are copied from X in blocks before they are encoded, since they share
    // cache lines in a row-major X. The copy stays below kBlockBytes if n allows.
    constexpr std::size_t kBlockBytes = std::size_t{64} << 20;
    const std::size_t n = order.size();
    const bool column_major = x.row_stride == 1;
    const std::size_t most_width = column_major ? 1 : 2 * kCacheLine / sizeof(Real);
    const std::size_t width =
        std::clamp<std::size_t>(kBlockBytes / (n * sizeof(Real)), 1, most_width);
    const std::size_t n_blocks = (x.cols + width - 1) / width;

    Columns result;
    result.column.resize(x.cols);
    result.n_labeled = n_labeled;
    result.n_rows = static_cast<std::uint32_t>(n);
    std::atomic<std::size_t> next{0};
    const auto encode_blocks = [&](std::size_t, const StopFlag& stop) {
        const Memory memory = allocate(n * width * sizeof(Real));
        const std::span copy(reinterpret_cast<Real*>(memory.get()), n * width);
        ColumnEncoder<Real> encoder(*result.memory);
        for (std::size_t block; (block = next++) < n_blocks && !stop;) {
            const std::size_t first = block * width;
            const std::size_t last = std::min(first + width, x.cols);
            copy_columns(x, order, first, last, copy);
            for (std::size_t j = first; j < last && !stop; ++j) {
                result.column[j] = encoder.encode(copy.subspan((j - first) * n, n));
            }
        }
    };
    const std::size_t n_workers = std::min<std::size_t>(n_blocks, std::max(1u, n_threads));
    run_tasks(n_workers, n_threads, encode_blocks, poll);
    for (const Column& column : result.column) result.varies.push_back(column.varies());
    store_by_row(result, n_threads, poll);
    return result;
}

template Columns encode(const Matrix<float>&, std::span<const Row>, std::uint32_t, unsigned,
                        const Poll&);
template Columns encode(const Matrix<double>&, std::span<const Row>, std::uint32_t, unsigned,
                        const Poll&);

}  // namespace puforest
