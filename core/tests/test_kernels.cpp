#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "puforest/kernels.hpp"
#include "puforest/rng.hpp"

namespace puforest::testing {
namespace {

// Of exactly the requested size, so that sanitizers detect every read past the end.
template <class CodeType>
std::vector<CodeType> random_codes(std::size_t n, std::uint64_t bound, Rng& rng) {
    std::vector<CodeType> codes(n);
    for (CodeType& code : codes) code = static_cast<CodeType>(rng.below(bound));
    return codes;
}

std::vector<std::uint8_t> random_mask(std::size_t n, Rng& rng) {
    std::vector<std::uint8_t> mask(n);
    for (std::uint8_t& m : mask) m = rng.below(3) == 0 ? 255 : 0;
    return mask;
}

// Call use(kernels) for each instruction set and each code width.
template <class Use>
void for_each_kernels(Use&& use) {
    for (const Kernels* const some : available_kernels()) {
        use(some->of<std::uint8_t>(), std::uint8_t{});
        use(some->of<std::uint16_t>(), std::uint16_t{});
        use(some->of<std::uint32_t>(), std::uint32_t{});
    }
}

template <class CodeType>
void check_counts(const KernelsOf<CodeType>& loops, const std::vector<CodeType>& codes,
                  const std::vector<std::uint8_t>& mask, std::size_t skip, Code c) {
    std::uint32_t count = 0;
    std::uint32_t masked = 0;
    for (std::size_t i = skip; i < codes.size(); ++i) {
        count += codes[i] <= c;
        masked += codes[i] <= c && mask[i] != 0;
    }
    const std::size_t n = codes.size() - skip;
    CHECK(loops.count(codes.data() + skip, n, c) == count);
    CHECK(loops.masked_count(codes.data() + skip, mask.data() + skip, n, c) == masked);
}

TEST(kernels_count_every_small_size) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        Rng rng(sizeof(CodeType));
        constexpr Code kMost = std::numeric_limits<CodeType>::max();
        for (std::size_t n = 0; n <= 600; ++n) {
            const auto mask = random_mask(n, rng);
            const auto few = random_codes<CodeType>(n, 3, rng);
            check_counts(loops, few, mask, 0, 1);
            const auto all = random_codes<CodeType>(n, std::uint64_t{kMost} + 1, rng);
            // The minimum, the maximum and thresholds around the sign bit.
            for (const Code c : {Code{0}, Code{1}, kMost / 2, kMost / 2 + 1, kMost - 1, kMost}) {
                check_counts(loops, all, mask, 0, c);
            }
            check_counts(loops, all, mask, std::min(n, n % 7), kMost / 3);
        }
    });
}

// By definition; an empty range has the limit as its lowest code.
template <class CodeType>
CodesBelow naive_range_below(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                             Code limit) {
    CodesBelow found{limit, 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
        if (mask != nullptr && mask[i] == 0) continue;
        found.n_other += codes[i] == limit;
        if (codes[i] == limit) continue;
        found.low = std::min<Code>(found.low, codes[i]);
        found.high = std::max<Code>(found.high, codes[i]);
    }
    return found;
}

template <class CodeType>
void check_range_below(const KernelsOf<CodeType>& loops, const std::vector<CodeType>& codes,
                       const std::vector<std::uint8_t>& mask, std::size_t skip, Code limit) {
    const CodeType* const first = codes.data() + skip;
    const std::uint8_t* const first_mask = mask.data() + skip;
    const std::size_t n = codes.size() - skip;
    const auto same = [](const CodesBelow& a, const CodesBelow& b) {
        return a.low == b.low && a.high == b.high && a.n_other == b.n_other;
    };
    CHECK(same(loops.range_below(first, n, limit),
               naive_range_below<CodeType>(first, nullptr, n, limit)));
    CHECK(same(loops.masked_range_below(first, first_mask, n, limit),
               naive_range_below<CodeType>(first, first_mask, n, limit)));
}

TEST(kernels_range_below_every_small_size) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        constexpr Code kMost = std::numeric_limits<CodeType>::max();
        Rng rng(sizeof(CodeType) + 30);
        for (std::size_t n = 0; n <= 300; ++n) {
            const auto mask = random_mask(n, rng);
            const std::vector<std::uint8_t> none(n);
            // One value and the limit, limits around the sign bit, and the largest one.
            for (const Code limit : {Code{1}, Code{5}, kMost / 2, kMost / 2 + 1, kMost}) {
                auto codes = random_codes<CodeType>(n, std::uint64_t{limit} + 1, rng);
                check_range_below(loops, codes, mask, std::min(n, n % 7), limit);
                for (CodeType& code : codes) {
                    if (rng.below(3) == 0) code = static_cast<CodeType>(limit);
                }
                check_range_below(loops, codes, mask, 0, limit);
                check_range_below(loops, codes, none, 0, limit);
                check_range_below(loops, std::vector<CodeType>(n, static_cast<CodeType>(limit)),
                                  mask, 0, limit);
                check_range_below(loops, std::vector<CodeType>(n), mask, 0, limit);
            }
        }
    });
}

TEST(kernels_range_below_finds_a_single_code_anywhere) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        constexpr CodeType kMost = std::numeric_limits<CodeType>::max();
        for (const std::size_t n : {1, 15, 16, 17, 31, 32, 33, 64, 100}) {
            std::vector<CodeType> codes(n, kMost);
            std::vector<std::uint8_t> mask(n, 255);
            for (std::size_t at = 0; at < n; ++at) {
                for (const CodeType code : {CodeType{0}, CodeType{1}, CodeType{kMost - 1}}) {
                    codes[at] = code;
                    check_range_below(loops, codes, mask, 0, kMost);
                    mask[at] = 0;
                    check_range_below(loops, codes, mask, 0, kMost);
                    mask[at] = 255;
                }
                codes[at] = kMost;
            }
        }
    });
}

void check_gaps(const KernelsWithGaps& loops, const std::vector<std::uint8_t>& codes,
                const std::vector<std::uint8_t>& gaps, std::uint8_t gap,
                const std::vector<std::uint8_t>& mask, std::size_t skip) {
    const CodesWithGaps all{codes.data(), gaps.data(), gap};
    CodesBelow expected{255, 0, 0};
    for (std::size_t i = skip; i < codes.size(); ++i) {
        const bool missing = (gaps[i] & gap) != 0;
        if (!missing || codes[i] == 0) {
            CHECK(all[i] == (missing ? CodesWithGaps::kMissing : codes[i]));
        }
        if (mask[i] == 0) continue;
        expected.n_other += missing;
        if (missing) continue;
        expected.low = std::min<Code>(expected.low, codes[i]);
        expected.high = std::max<Code>(expected.high, codes[i]);
    }
    const std::size_t n = codes.size() - skip;
    const std::uint8_t* const first_mask = mask.data() + skip;
    const CodesBelow found = loops.masked_range(all.from(skip), first_mask, n);
    CHECK(found.low == expected.low && found.high == expected.high);
    CHECK(found.n_other == expected.n_other);
    for (const Code c : {0, 1, 127, 128, 254, 255}) {
        std::uint32_t count = 0;
        for (std::size_t i = skip; i < codes.size(); ++i) {
            count += codes[i] <= c && mask[i] != 0 && (gaps[i] & gap) == 0;
        }
        CHECK(loops.masked_count(all.from(skip), first_mask, n, c) == count);
    }
}

TEST(kernels_with_gaps) {
    for (const Kernels* const some : available_kernels()) {
        Rng rng(40);
        for (std::size_t n = 0; n <= 300; ++n) {
            const auto mask = random_mask(n, rng);
            const auto codes = random_codes<std::uint8_t>(n, 256, rng);
            const auto gaps = random_codes<std::uint8_t>(n, 256, rng);
            for (const int bit : {0, 3, 7}) {
                const auto gap = static_cast<std::uint8_t>(1 << bit);
                check_gaps(some->with_gaps, codes, gaps, gap, mask, std::min(n, n % 7));
                check_gaps(some->with_gaps, codes, std::vector<std::uint8_t>(n), gap, mask, 0);
                // No code, except one anywhere.
                std::vector<std::uint8_t> all(n, gap);
                check_gaps(some->with_gaps, codes, all, gap, mask, 0);
                if (n == 0) continue;
                all[n / 2] = 0;
                check_gaps(some->with_gaps, codes, all, gap, std::vector<std::uint8_t>(n, 255), 0);
            }
        }
        for (const std::size_t n : {255 * 16 + 1, 255 * 32 + 31, 256 * 64 + 3}) {  // lanes wrap
            const std::vector<std::uint8_t> zeros(n);
            const std::vector<std::uint8_t> every(n, 255);
            check_gaps(some->with_gaps, zeros, zeros, 1, every, 0);
            check_gaps(some->with_gaps, zeros, every, 128, every, 0);
        }
    }
}

// If all codes are included, a lane that is not summed in time wraps around.
TEST(kernels_counts_do_not_wrap) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        std::vector<std::size_t> sizes{65537, 1 << 20};
        if constexpr (sizeof(CodeType) < 4) {
            constexpr std::size_t kMost = std::numeric_limits<CodeType>::max();
            for (const std::size_t lanes : {8, 16, 32, 64}) {
                for (const std::size_t more : {-1, 0, 1, 31}) sizes.push_back(kMost * lanes + more);
                sizes.push_back((kMost + 1) * lanes + 3);
            }
        }
        for (const std::size_t n : sizes) {
            const std::vector<CodeType> zeros(n);
            const std::vector<std::uint8_t> every(n, 255);
            check_counts(loops, zeros, every, 0, 0);
            std::vector<CodeType> ones(n, CodeType{1});
            check_range_below(loops, ones, every, 0, 1);
            ones[n - 1] = 0;
            check_range_below(loops, ones, every, 0, 1);
        }
    });
}

TEST(kernels_range_is_the_minimum_and_maximum) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        constexpr CodeType kMost = std::numeric_limits<CodeType>::max();
        Rng rng(sizeof(CodeType) + 10);
        for (std::size_t n = 1; n <= 600; ++n) {
            auto codes = random_codes<CodeType>(n, kMost / 2, rng);
            for (CodeType& code : codes) code = static_cast<CodeType>(code + kMost / 4);
            auto mask = random_mask(n, rng);
            mask[rng.below(n)] = 255;
            const auto check_range = [&] {
                const auto [low, high] = std::minmax_element(codes.begin(), codes.end());
                const CodeRange found = loops.range(codes.data(), n);
                CHECK(found.low == *low && found.high == *high);
                CodeType lowest = kMost;
                CodeType highest = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    if (mask[i] == 0) continue;
                    lowest = std::min(lowest, codes[i]);
                    highest = std::max(highest, codes[i]);
                }
                const CodeRange masked = loops.masked_range(codes.data(), mask.data(), n);
                CHECK(masked.low == lowest && masked.high == highest);
            };
            check_range();
            // The extremes at any position, including the first and the last.
            codes[rng.below(2) ? n - 1 : rng.below(n)] = kMost;
            check_range();
            codes[rng.below(2) ? 0 : rng.below(n)] = 0;
            check_range();
        }
        const std::vector<CodeType> highest(33, kMost);
        const CodeRange found = loops.range(highest.data(), 33);
        CHECK(found.low == kMost && found.high == kMost);
    });
}

// Lines and columns of many sizes; nothing outside the columns is written.
TEST(kernels_transpose_moves_every_code) {
    for_each_kernels([]<class CodeType>(const KernelsOf<CodeType>& loops, CodeType) {
        Rng rng(sizeof(CodeType) + 20);
        for (const std::size_t n_lines : {1, 3, 4, 15, 16, 17, 32, 63, 64, 70}) {
            for (const std::size_t n_codes : {1, 2, 7, 8, 16, 33, 100}) {
                const std::size_t begin = sizeof(CodeType) * rng.below(5);
                std::vector<std::vector<CodeType>> lines;
                std::vector<const std::byte*> pointers;
                for (std::size_t l = 0; l < n_lines; ++l) {
                    lines.push_back(random_codes<CodeType>(
                        n_codes + (begin + Lines::kPadding) / sizeof(CodeType), 1u << 31, rng));
                    pointers.push_back(reinterpret_cast<const std::byte*>(lines[l].data()));
                }
                pointers.resize(n_lines + Lines::kPadding, pointers[0]);
                const auto* const next = rng.below(2) ? pointers.data() : nullptr;
                const std::size_t stride = n_lines + rng.below(3);
                std::vector<CodeType> out(n_codes * stride, CodeType{42});
                loops.transpose({pointers.data(), n_lines, begin, n_codes, next},
                                reinterpret_cast<std::byte*>(out.data()),
                                stride * sizeof(CodeType));
                for (std::size_t k = 0; k < n_codes; ++k) {
                    for (std::size_t l = 0; l < stride; ++l) {
                        const CodeType expected =
                            l < n_lines ? lines[l][begin / sizeof(CodeType) + k] : CodeType{42};
                        CHECK(out[k * stride + l] == expected);
                    }
                }
            }
        }
    });
}

TEST(kernels_mark_hashes) {
    constexpr std::uint64_t kKey = 5, kFirst = (std::uint64_t{1} << 40) - 7, kLimit = ~0ull / 9;
    for (const Kernels* const some : available_kernels()) {
        for (const std::size_t n : {0u, 1u, 7u, 64u, 1001u}) {
            std::vector<std::uint8_t> marks(n + 1);
            if (n > 3) marks[3] = 1;  // is kept
            some->mark_hashes(kKey, kFirst, kLimit, marks.data(), n);
            for (std::size_t i = 0; i < n; ++i) {
                CHECK(marks[i] == (derive(kKey, kFirst + i) <= kLimit || i == 3));
            }
            CHECK(marks[n] == 0);
        }
    }
}

TEST(kernels_follow_the_environment) {
    const char* const before = std::getenv("PUFOREST_SIMD");
    const std::string kept = before == nullptr ? "" : before;
    for (const Kernels* const some : available_kernels()) {
        setenv("PUFOREST_SIMD", some->instruction_set, 1);
        CHECK(&kernels() == some);
    }
    setenv("PUFOREST_SIMD", "", 1);
    CHECK(&kernels() == available_kernels().back());
    setenv("PUFOREST_SIMD", "abacus", 1);
    CHECK_THROWS(std::invalid_argument, kernels());
    setenv("PUFOREST_SIMD", kept.c_str(), 1);
}

}  // namespace
}  // namespace puforest::testing
