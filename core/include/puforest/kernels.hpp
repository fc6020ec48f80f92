// The loops over the rows of a node, where a fit spends its time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "puforest/types.hpp"

namespace puforest {

struct CodeRange {
    Code low;
    Code high;
};

template <class CodeType>
void gather(const CodeType* codes, const Row* rows, std::size_t n, CodeType* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = codes[rows[i]];
}

// The same where the code of row r is at `first + r * stride` bytes.
template <class CodeType>
void gather(const std::byte* first, std::size_t stride, const Row* rows, std::size_t n,
            CodeType* out) {
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = *reinterpret_cast<const CodeType*>(first + rows[i] * stride);
    }
}

template <class CodeType>
CodeRange range(const CodeType* codes, std::size_t n) {
    CodeType low = std::numeric_limits<CodeType>::max();
    CodeType high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        low = std::min(low, codes[i]);
        high = std::max(high, codes[i]);
    }
    return {low, high};
}

// How many of `codes` are at most `c`. Lanes as wide as the codes count up to what they can
// hold before they are added up, so the inner loop is one compare and one subtract a vector.
template <class CodeType>
std::uint32_t count_at_most(const CodeType* codes, std::size_t n, Code c) {
    constexpr std::size_t kLanes = 32 / sizeof(CodeType);
    constexpr std::size_t kMostSteps = std::numeric_limits<CodeType>::max();
    const auto limit = static_cast<CodeType>(c);
    std::uint32_t total = 0;
    std::size_t i = 0;
    while (n - i >= kLanes) {
        std::array<CodeType, kLanes> lane{};
        const std::size_t steps = std::min((n - i) / kLanes, kMostSteps);
        for (std::size_t s = 0; s < steps; ++s, i += kLanes) {
            for (std::size_t l = 0; l < kLanes; ++l) {
                lane[l] = static_cast<CodeType>(lane[l] + (codes[i + l] <= limit));
            }
        }
        for (const CodeType count : lane) total += count;
    }
    for (; i < n; ++i) total += codes[i] <= limit;
    return total;
}

}  // namespace puforest
