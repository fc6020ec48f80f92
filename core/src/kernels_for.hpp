// The kernels, included by one source file per instruction set, which defines the width of its
// vectors.
//
// The linker merges inline functions of the same name even if they were compiled for different
// processors. Therefore everything here is in an anonymous namespace and calls no inline functions
// from elsewhere, including the standard library, unless they are always inlined.
#pragma once

#include <utility>

#include "puforest/kernels.hpp"
#include "puforest/rng.hpp"

namespace puforest {
namespace {

constexpr std::size_t kVectorBytes = PUFOREST_VECTOR_BYTES;
typedef std::uint64_t Words __attribute__((vector_size(kVectorBytes)));

struct Min {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};

struct Max {
    template <class T>
    T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

template <class CodeType>
struct Vector {
    typedef CodeType Type __attribute__((vector_size(kVectorBytes)));
    static constexpr std::size_t kLanes = kVectorBytes / sizeof(CodeType);

    static Type load(const CodeType* codes) {
        Type v;
        __builtin_memcpy(&v, codes, sizeof(v));
        return v;
    }
    // All bits of a lane are set if its code is included.
    static Type load_mask(const std::uint8_t* mask) {
        typedef std::int8_t Bytes __attribute__((vector_size(kLanes)));
        Bytes m;
        __builtin_memcpy(&m, mask, sizeof(m));
        return reinterpret_cast<Type>(__builtin_convertvector(m, decltype(Type{} < Type{})));
    }

    // Reduce all lanes to one, half by half.
    template <class Fold>
    static CodeType fold(Type v, Fold two) {
        const auto with = [&](Words other) { v = two(v, reinterpret_cast<Type>(other)); };
        const auto words = [&] { return reinterpret_cast<Words>(v); };
        if constexpr (kVectorBytes == 32) {
            with(__builtin_shufflevector(words(), words(), 2, 3, 2, 3));
            with(__builtin_shufflevector(words(), words(), 1, 1, 1, 1));
        } else {
            with(__builtin_shufflevector(words(), words(), 1, 1));
        }
        for (unsigned bits = 32; bits >= 8 * sizeof(CodeType); bits /= 2) with(words() >> bits);
        return v[0];
    }

    static std::uint32_t sum(Type v) {
        if constexpr (sizeof(CodeType) == 1) {
            constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffull;
            const auto bytes = reinterpret_cast<Words>(v);
            const Words pairs = (bytes & kEven) + ((bytes >> 8) & kEven);
            std::uint64_t four = 0;
            for (std::size_t w = 0; w < kVectorBytes / 8; ++w) four += pairs[w];
            return static_cast<std::uint32_t>((four * 0x0001000100010001ull) >> 48);
        } else {
            std::uint32_t total = 0;
            for (std::size_t l = 0; l < kLanes; ++l) total += v[l];
            return total;
        }
    }
};

template <class CodeType, bool kMasked>
CodeRange find_range(const CodeType* codes, const std::uint8_t* mask, std::size_t n) {
    using V = Vector<CodeType>;
    typename V::Type low = ~typename V::Type{};
    typename V::Type high{};
    std::size_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) {
        const auto v = V::load(codes + i);
        if constexpr (kMasked) {
            const auto m = V::load_mask(mask + i);
            low = Min()(low, v | ~m);
            high = Max()(high, v & m);
        } else {
            low = Min()(low, v);
            high = Max()(high, v);
        }
    }
    CodeType lowest = V::fold(low, Min());
    CodeType highest = V::fold(high, Max());
    for (; i < n; ++i) {
        if (kMasked && mask[i] == 0) continue;
        lowest = Min()(lowest, codes[i]);
        highest = Max()(highest, codes[i]);
    }
    return {lowest, highest};
}

// Lanes are as wide as the codes and are summed before they overflow, so that the inner loop is one
// comparison and one subtraction per vector.
template <class CodeType, bool kMasked>
std::uint32_t count_at_most(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                            Code c) {
    using V = Vector<CodeType>;
    constexpr std::size_t kMostSteps = static_cast<CodeType>(-1);
    const auto limit = static_cast<CodeType>(c);
    const auto limits = typename V::Type{} + limit;
    std::uint32_t total = 0;
    std::size_t i = 0;
    while (i + V::kLanes <= n) {
        typename V::Type lanes{};
        std::size_t steps = (n - i) / V::kLanes;
        if (steps > kMostSteps) steps = kMostSteps;
        for (std::size_t s = 0; s < steps; ++s, i += V::kLanes) {
            auto counted = reinterpret_cast<typename V::Type>(V::load(codes + i) <= limits);
            if constexpr (kMasked) counted &= V::load_mask(mask + i);
            lanes -= counted;
        }
        total += V::sum(lanes);
    }
    for (; i < n; ++i) total += codes[i] <= limit && (!kMasked || mask[i] != 0);
    return total;
}

// Codes equal to the limit, the largest code, cannot lower the minimum; for the maximum they count
// as 0.
template <class CodeType, bool kMasked>
CodesBelow find_range_below(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                            Code limit_code) {
    using V = Vector<CodeType>;
    constexpr std::size_t kMostSteps = static_cast<CodeType>(-1);
    const auto limit = static_cast<CodeType>(limit_code);
    const auto limits = typename V::Type{} + limit;
    typename V::Type low = ~typename V::Type{};
    typename V::Type high{};
    std::uint32_t n_other = 0;
    std::size_t i = 0;
    while (i + V::kLanes <= n) {
        typename V::Type lanes{};
        std::size_t steps = (n - i) / V::kLanes;
        if (steps > kMostSteps) steps = kMostSteps;
        for (std::size_t s = 0; s < steps; ++s, i += V::kLanes) {
            const auto v = V::load(codes + i);
            auto other = reinterpret_cast<typename V::Type>(v == limits);
            if constexpr (kMasked) {
                const auto m = V::load_mask(mask + i);
                low = Min()(low, v | ~m);
                high = Max()(high, v & m & ~other);
                other &= m;
            } else {
                low = Min()(low, v);
                high = Max()(high, v & ~other);
            }
            lanes -= other;
        }
        n_other += V::sum(lanes);
    }
    CodeType lowest = V::fold(low, Min());
    CodeType highest = V::fold(high, Max());
    for (; i < n; ++i) {
        if (kMasked && mask[i] == 0) continue;
        if (codes[i] == limit) {
            ++n_other;
            continue;
        }
        lowest = Min()(lowest, codes[i]);
        highest = Max()(highest, codes[i]);
    }
    if (lowest >= limit) return {limit_code, 0, n_other};
    return {lowest, highest, n_other};
}

// All bits of a lane are set if its code is missing.
Vector<std::uint8_t>::Type load_missing(const CodesWithGaps& codes, std::size_t i) {
    using V = Vector<std::uint8_t>;
    const auto gap = V::Type{} + codes.gap;
    return reinterpret_cast<V::Type>((V::load(codes.gaps + i) & gap) == gap);
}

// Without any code, the minimum stays above the maximum.
CodesBelow find_range_with_gaps(const CodesWithGaps& codes, const std::uint8_t* mask,
                                std::size_t n) {
    using V = Vector<std::uint8_t>;
    constexpr std::size_t kMostSteps = 255;
    V::Type low = ~V::Type{};
    V::Type high{};
    std::uint32_t n_missing = 0;
    std::size_t i = 0;
    while (i + V::kLanes <= n) {
        V::Type lanes{};
        std::size_t steps = (n - i) / V::kLanes;
        if (steps > kMostSteps) steps = kMostSteps;
        for (std::size_t s = 0; s < steps; ++s, i += V::kLanes) {
            const auto v = V::load(codes.codes + i);
            const auto m = V::load_mask(mask + i);
            const auto missing = load_missing(codes, i);
            const auto present = m & ~missing;
            low = Min()(low, v | ~present);
            high = Max()(high, v & present);
            lanes -= m & missing;
        }
        n_missing += V::sum(lanes);
    }
    std::uint8_t lowest = V::fold(low, Min());
    std::uint8_t highest = V::fold(high, Max());
    for (; i < n; ++i) {
        if (mask[i] == 0) continue;
        if ((codes.gaps[i] & codes.gap) != 0) {
            ++n_missing;
            continue;
        }
        lowest = Min()(lowest, codes.codes[i]);
        highest = Max()(highest, codes.codes[i]);
    }
    return {lowest, highest, n_missing};
}

std::uint32_t count_at_most_with_gaps(const CodesWithGaps& codes, const std::uint8_t* mask,
                                      std::size_t n, Code c) {
    using V = Vector<std::uint8_t>;
    constexpr std::size_t kMostSteps = 255;
    const auto limit = static_cast<std::uint8_t>(c);
    const auto limits = V::Type{} + limit;
    std::uint32_t total = 0;
    std::size_t i = 0;
    while (i + V::kLanes <= n) {
        V::Type lanes{};
        std::size_t steps = (n - i) / V::kLanes;
        if (steps > kMostSteps) steps = kMostSteps;
        for (std::size_t s = 0; s < steps; ++s, i += V::kLanes) {
            const auto at_most = reinterpret_cast<V::Type>(V::load(codes.codes + i) <= limits);
            lanes -= at_most & V::load_mask(mask + i) & ~load_missing(codes, i);
        }
        total += V::sum(lanes);
    }
    for (; i < n; ++i) {
        total += codes.codes[i] <= limit && mask[i] != 0 && (codes.gaps[i] & codes.gap) == 0;
    }
    return total;
}

// A square of codes for each 16 bytes of a vector, such as 16 x 16 codes of 1 byte. Squares that
// are side by side in the vectors are transposed together.
template <class CodeType>
class Tile {
public:
    static constexpr std::size_t kHalves = kVectorBytes / 16;
    static constexpr std::size_t kCodes = 16 / sizeof(CodeType);
    static constexpr std::size_t kLines = kHalves * kCodes;

    void load(const std::byte* const* lines, std::size_t at) {
        for (std::size_t i = 0; i < kCodes; ++i) {
            Words16 low;
            __builtin_memcpy(&low, lines[i] + at, 16);
            if constexpr (kHalves == 2) {
                Words16 high;
                __builtin_memcpy(&high, lines[kCodes + i] + at, 16);
                vector_[i] = reinterpret_cast<Type>(__builtin_shufflevector(low, high, 0, 1, 2, 3));
            } else {
                vector_[i] = reinterpret_cast<Type>(low);
            }
        }
    }

    // Each round interleaves the first half of the vectors with the second; after log2(kCodes)
    // rounds vector k holds code k of all lines.
    void transpose() {
        for (std::size_t round = 1; round < kCodes; round *= 2) {
            Tile next;
            for (std::size_t i = 0; i < kCodes / 2; ++i) {
                const Type a = vector_[i];
                const Type b = vector_[i + kCodes / 2];
                next.vector_[2 * i] = interleave<0>(a, b, Indices());
                next.vector_[2 * i + 1] = interleave<kCodes / 2>(a, b, Indices());
            }
            *this = next;
        }
    }

    void store(std::byte* out, std::size_t out_stride) const {
        for (std::size_t k = 0; k < kCodes; ++k) {
            __builtin_memcpy(out + k * out_stride, &vector_[k], sizeof(Type));
        }
    }
    void store(std::byte* out, std::size_t out_stride, std::size_t n_codes,
               std::size_t n_lines) const {
        for (std::size_t k = 0; k < n_codes; ++k) {
            __builtin_memcpy(out + k * out_stride, &vector_[k], n_lines * sizeof(CodeType));
        }
    }

private:
    typedef std::uint64_t Words16 __attribute__((vector_size(16)));
    using Type = typename Vector<CodeType>::Type;
    using Indices = std::make_integer_sequence<int, static_cast<int>(kLines)>;

    // Interleave half of the codes of `a` and `b`, from `kFirst` on, in each 16 bytes.
    template <std::size_t kFirst, int... kIndex>
    static Type interleave(Type a, Type b, std::integer_sequence<int, kIndex...>) {
        constexpr int kSize = static_cast<int>(kCodes);
        return __builtin_shufflevector(
            a, b,
            (kIndex / kSize * kSize + kIndex % kSize / 2 + static_cast<int>(kFirst) +
             kIndex % 2 * static_cast<int>(kLines))...);
    }

    Type vector_[kCodes];
};

template <class CodeType>
void transpose(const Lines& lines, std::byte* out, std::size_t out_stride) {
    using T = Tile<CodeType>;
    for (std::size_t k = 0; k < lines.n_codes; k += T::kCodes) {
        const std::size_t at = lines.begin + k * sizeof(CodeType);
        if (lines.next != nullptr) {
            const std::size_t quarter = k * sizeof(CodeType) / 16 % 4;
            const std::size_t end = (quarter + 1) * lines.n_lines / 4;
            for (std::size_t l = quarter * lines.n_lines / 4; l < end; ++l) {
                __builtin_prefetch(lines.next[l] + (at & ~std::size_t{63}));
            }
            // Columns that are far apart are not in the cache.
            constexpr std::size_t kAhead = 2 * T::kCodes;
            if (out_stride >= 2048 && k + kAhead + T::kCodes <= lines.n_codes) {
                for (std::size_t c = 0; c < T::kCodes; ++c) {
                    __builtin_prefetch(out + (k + kAhead + c) * out_stride, 1);
                }
            }
        }
        for (std::size_t l = 0; l < lines.n_lines; l += T::kLines) {
            T tile;
            tile.load(lines.line + l, at);
            tile.transpose();
            std::byte* const to = out + k * out_stride + l * sizeof(CodeType);
            if (k + T::kCodes <= lines.n_codes && l + T::kLines <= lines.n_lines) {
                tile.store(to, out_stride);
            } else {
                tile.store(to, out_stride, Min()(T::kCodes, lines.n_codes - k),
                           Min()(T::kLines, lines.n_lines - l));
            }
        }
    }
}

template <class CodeType>
CodeRange range(const CodeType* codes, std::size_t n) {
    return find_range<CodeType, false>(codes, nullptr, n);
}

template <class CodeType>
CodesBelow range_below(const CodeType* codes, std::size_t n, Code limit) {
    return find_range_below<CodeType, false>(codes, nullptr, n, limit);
}

template <class CodeType>
std::uint32_t count(const CodeType* codes, std::size_t n, Code c) {
    return count_at_most<CodeType, false>(codes, nullptr, n, c);
}

void mark_hashes(std::uint64_t key, std::uint64_t first, std::uint64_t limit, std::uint8_t* marks,
                 std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) marks[i] |= derive(key, first + i) <= limit;
}

template <class CodeType>
constexpr KernelsOf<CodeType> kKernelsOf = {range<CodeType>,       find_range<CodeType, true>,
                                            range_below<CodeType>, find_range_below<CodeType, true>,
                                            count<CodeType>,       count_at_most<CodeType, true>,
                                            transpose<CodeType>};

// Built at compile time, so that no code of this file runs unless it is called.
constexpr Kernels kernels_named(const char* instruction_set) {
    return {instruction_set,           mark_hashes,
            kKernelsOf<std::uint8_t>,  kKernelsOf<std::uint16_t>,
            kKernelsOf<std::uint32_t>, {find_range_with_gaps, count_at_most_with_gaps}};
}

}  // namespace
}  // namespace puforest
