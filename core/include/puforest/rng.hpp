// Random numbers that depend only on the node that uses them.
//
// Every node has a key: that of a root is derived from (seed, tree), that of a child from the key
// of its parent and its side. A node draws from the stream of its own key, so the tree does not
// depend on the order in which nodes are grown or on the thread that grows them.
#pragma once

#include <cstdint>

namespace puforest {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;

// The finalizer of SplitMix64, a bijection on 64 bits. Always inlined, as kernels compiled for
// several instruction sets call it (see kernels_for.hpp).
[[gnu::always_inline]] inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

[[gnu::always_inline]] inline std::uint64_t derive(std::uint64_t key, std::uint64_t branch) {
    return mix(key + kGolden * (branch + 1));
}

// Branches of a key; `derive(key, kLeft)` is the key of the left child of a node.
inline constexpr std::uint64_t kLeft = 0, kRight = 1, kSample = 2;

inline std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree) {
    return derive(mix(seed + kGolden), tree);
}

// SplitMix64.
class Rng {
public:
    explicit Rng(std::uint64_t key) : state_(key) {}

    std::uint64_t next() { return mix(state_ += kGolden); }

    // Skip n numbers.
    void skip(std::uint64_t n) { state_ += n * kGolden; }

    // Uniform on {0, ..., bound - 1}. The bias, bound / 2^64, is negligible.
    std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
    }

    // Uniform on [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

}  // namespace puforest
