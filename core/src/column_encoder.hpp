// Encoding of single columns.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "puforest/columns.hpp"

namespace puforest {

// Floats as unsigned integers in the same order: flip all bits of negative numbers and the sign bit
// of the others. -0.0 becomes +0.0 first, since the two compare equal. NaN is above all others.
template <class Real>
struct Key {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    static constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    static constexpr Bits kMissing = ~Bits{0};

    static Bits of(Real x) { return x == x ? of_number(x) : kMissing; }
    static Bits of_number(Real x) {
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
        column.has_missing_ = found.missing;
        const double most = std::min<double>(65535, values.size());
        if (found.whole_within(255 - found.missing)) {
            encode_whole<std::uint8_t>(values, found, column);
        } else if (found.whole_within(most - found.missing) && exceeds_a_byte(values, found)) {
            encode_whole<std::uint16_t>(values, found, column);
        } else if (!encode_few(values, column)) {
            encode_many(values, column);
        }
        return column;
    }

private:
    // Of the values that are not missing.
    struct Survey {
        Real low;
        Real high;
        bool whole;    // all are integers of at most 32 bits, and there are some
        bool missing;  // some values are missing

        bool whole_within(double distance) const {
            return whole && std::abs(double{low}) < 1e9 && double{high} - double{low} <= distance;
        }
    };

    // Whether integers within a small range, and the code of missing values, need two bytes. Faster
    // than the failure of encode_few, which all columns of bytes with 256 values and gaps would
    // cause.
    static bool exceeds_a_byte(std::span<const Real> values, const Survey& found) {
        const auto first = static_cast<std::int32_t>(found.low);
        std::vector<std::uint8_t> seen(static_cast<std::size_t>(found.high - found.low) + 1);
        std::size_t n_distinct = found.missing;
        for (const Real x : values) {
            if (x != x) continue;
            std::uint8_t& known =
                seen[static_cast<std::size_t>(static_cast<std::int32_t>(x) - first)];
            n_distinct += known == 0;
            known = 1;
            if (n_distinct > 256) return true;
        }
        return false;
    }

    // Integers within a small range: a table from number to rank.
    template <class CodeType>
    void encode_whole(std::span<const Real> values, const Survey& found, Column& column) {
        column.first_ = found.low;
        column.size_ = static_cast<Code>(found.high - found.low) + 1;
        if (!column.varies()) return;
        rename_to_ranks(allocate_numbers<CodeType>(values, found, column), column);
    }

    // Differences from the minimum; for missing values, the number after the last.
    template <class CodeType>
    std::span<CodeType> allocate_numbers(std::span<const Real> values, const Survey& found,
                                         Column& column) {
        CodeType* const numbers = allocate_codes<CodeType>(values.size(), column);
        const auto first = static_cast<std::int32_t>(found.low);
        const auto number = [&](Real x) {
            return static_cast<CodeType>(static_cast<std::int32_t>(x) - first);
        };
        if (found.missing) {
            const auto after = static_cast<CodeType>(number(found.high) + 1);
            for (std::size_t i = 0; i < values.size(); ++i) {
                numbers[i] = values[i] == values[i] ? number(values[i]) : after;
            }
        } else {
            for (std::size_t i = 0; i < values.size(); ++i) numbers[i] = number(values[i]);
        }
        return {numbers, values.size()};
    }

    // Numbers are ranks unless some do not occur; then the column needs a table of values.
    template <class CodeType>
    void rename_to_ranks(std::span<CodeType> numbers, Column& column) {
        std::vector<std::uint8_t> seen(column.size() + column.has_missing());
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
            return Key<Real>::of_number(static_cast<Real>(first + present[i]));
        });
    }

    static constexpr std::size_t kLanes = 16 / sizeof(Real);
    typedef Real Lanes __attribute__((vector_size(16)));

    static Survey survey(std::span<const Real> values) {
        typedef std::int32_t Numbers __attribute__((vector_size(4 * kLanes)));
        Lanes low = Lanes{} + std::numeric_limits<Real>::infinity();
        Lanes high = -low;
        auto broken = low != low;
        auto missing = broken;
        const auto look_at = [&](Lanes x) {
            low = x < low ? x : low;
            high = x > high ? x : high;
            const auto is_missing = x != x;
            const auto whole = __builtin_convertvector(__builtin_convertvector(x, Numbers), Lanes);
            broken |= (whole != x) & ~is_missing;
            missing |= is_missing;
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
            missing[0] |= missing[l];
        }
        return {low[0], high[0], broken[0] == 0 && low[0] <= high[0], missing[0] != 0};
    }

    // Call use(position, key) until it returns false; return whether it never does.
    template <class Use>
    static bool for_each_key(std::span<const Real> values, const Column& column, Use&& use) {
        const auto with = [&](auto key_of) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (!use(i, key_of(values[i]))) return false;
            }
            return true;
        };
        return column.has_missing() ? with([](Real x) { return Key<Real>::of(x); })
                                    : with([](Real x) { return Key<Real>::of_number(x); });
    }

    // At most 256 distinct values: number them in order of appearance with a hash table, then
    // replace the numbers by ranks. Returns false early if there are more.
    bool encode_few(std::span<const Real> values, Column& column) {
        SmallSet<Bits> set;
        numbers_.resize(values.size());
        const bool few = for_each_key(values, column, [&](std::size_t i, Bits key) {
            const unsigned number = set.number(key);
            numbers_[i] = static_cast<std::uint8_t>(number);
            return number != set.kMost;
        });
        if (!few) return false;
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
        for_each_key(values, column, [&](std::size_t i, Bits key) {
            items_[i] = {key, static_cast<Row>(i)};
            return true;
        });
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

    // The key of missing values is the last of n, and has no value.
    template <class KeyAt>
    void store_values(std::size_t n, Column& column, KeyAt key_at) {
        n -= column.has_missing();
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

}  // namespace puforest
