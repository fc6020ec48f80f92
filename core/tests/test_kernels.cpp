#include <limits>
#include <vector>

#include "check.hpp"
#include "puforest/kernels.hpp"
#include "puforest/rng.hpp"

namespace puforest::testing {
namespace {

// Exactly as long as asked for, so that a sanitizer sees every read past the end.
template <class CodeType>
std::vector<CodeType> random_codes(std::size_t n, std::uint64_t bound, Rng& rng) {
    std::vector<CodeType> codes(n);
    for (CodeType& code : codes) code = static_cast<CodeType>(rng.below(bound));
    return codes;
}

template <class CodeType>
std::uint32_t naive_count(const CodeType* codes, std::size_t n, Code c) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += codes[i] <= c;
    return count;
}

// The smallest, the largest and the thresholds around the middle and the sign bit.
template <class CodeType>
std::vector<Code> limits() {
    constexpr Code kMost = std::numeric_limits<CodeType>::max();
    return {0, 1, kMost / 2, kMost / 2 + 1, kMost - 1, kMost};
}

template <class CodeType>
void counts_every_small_size() {
    Rng rng(sizeof(CodeType));
    constexpr std::uint64_t kAll = std::uint64_t{1} << (8 * sizeof(CodeType));
    for (std::size_t n = 0; n <= 600; ++n) {
        const auto few = random_codes<CodeType>(n, 3, rng);
        CHECK(count_at_most(few.data(), n, 1) == naive_count(few.data(), n, 1));
        const auto all = random_codes<CodeType>(n, kAll, rng);
        for (const Code c : limits<CodeType>()) {
            CHECK(count_at_most(all.data(), n, c) == naive_count(all.data(), n, c));
        }
        const std::size_t skip = n % 7;
        if (n < skip) continue;
        CHECK(count_at_most(all.data() + skip, n - skip, kAll / 3) ==
              naive_count(all.data() + skip, n - skip, kAll / 3));
    }
}

TEST(kernels_count_every_small_size) {
    counts_every_small_size<std::uint8_t>();
    counts_every_small_size<std::uint16_t>();
    counts_every_small_size<std::uint32_t>();
}

// Where all codes count, a lane that is not added up in time starts again at 0.
template <class CodeType>
void counts_do_not_wrap(const std::vector<std::size_t>& sizes) {
    for (const std::size_t n : sizes) {
        const std::vector<CodeType> zeros(n);
        CHECK(count_at_most(zeros.data(), n, 0) == n);
        Rng rng(n);
        const auto mixed = random_codes<CodeType>(n, 100, rng);
        CHECK(count_at_most(mixed.data(), n, 97) == naive_count(mixed.data(), n, 97));
    }
}

TEST(kernels_counts_do_not_wrap) {
    counts_do_not_wrap<std::uint8_t>({255 * 16 - 1, 255 * 16, 255 * 16 + 1, 256 * 16, 255 * 32 - 1,
                                      255 * 32, 255 * 32 + 1, 255 * 32 + 31, 256 * 32, 255 * 64,
                                      256 * 64 + 1, 3 * 255 * 32 + 17, 100'000});
    counts_do_not_wrap<std::uint16_t>({65535 * 16 - 1, 65535 * 16, 65535 * 16 + 1, 65535 * 16 + 15,
                                       65536 * 16, 2 * 65536 * 16 + 3});
    counts_do_not_wrap<std::uint32_t>({65537, 1 << 20});
}

template <class CodeType>
void range_is_that_of_the_codes() {
    constexpr CodeType kMost = std::numeric_limits<CodeType>::max();
    Rng rng(sizeof(CodeType) + 10);
    for (std::size_t n = 1; n <= 600; ++n) {
        auto codes = random_codes<CodeType>(n, kMost / 2, rng);
        for (CodeType& code : codes) code = static_cast<CodeType>(code + kMost / 4);
        const auto check_range = [&] {
            const auto [low, high] = std::minmax_element(codes.begin(), codes.end());
            const CodeRange found = range(codes.data(), n);
            CHECK(found.low == *low && found.high == *high);
        };
        check_range();
        // The extremes at any place, the first and the last among them.
        codes[rng.below(2) ? n - 1 : rng.below(n)] = kMost;
        check_range();
        codes[rng.below(2) ? 0 : rng.below(n)] = 0;
        check_range();
    }
    const std::vector<CodeType> highest(33, kMost);
    CHECK(range(highest.data(), 33).low == kMost && range(highest.data(), 33).high == kMost);
}

TEST(kernels_range_is_that_of_the_codes) {
    range_is_that_of_the_codes<std::uint8_t>();
    range_is_that_of_the_codes<std::uint16_t>();
    range_is_that_of_the_codes<std::uint32_t>();
}

template <class CodeType>
void gather_takes_the_rows_in_order() {
    Rng rng(sizeof(CodeType) + 20);
    const auto codes = random_codes<CodeType>(1001, std::numeric_limits<CodeType>::max(), rng);
    for (std::size_t n = 0; n <= 600; n += n < 70 ? 1 : 53) {
        std::vector<Row> rows(n);
        for (Row& row : rows) row = static_cast<Row>(rng.below(codes.size()));
        if (n > 0) rows[rng.below(n)] = static_cast<Row>(codes.size() - 1);
        std::vector<CodeType> out(n);
        gather(codes.data(), rows.data(), n, out.data());
        for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == codes[rows[i]]);

        constexpr std::size_t kStride = 3;  // every third code from the second on
        for (Row& row : rows) row = static_cast<Row>(row / kStride);
        gather(reinterpret_cast<const std::byte*>(codes.data() + 1), kStride * sizeof(CodeType),
               rows.data(), n, out.data());
        for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == codes[1 + kStride * rows[i]]);
    }
}

TEST(kernels_gather_takes_the_rows_in_order) {
    gather_takes_the_rows_in_order<std::uint8_t>();
    gather_takes_the_rows_in_order<std::uint16_t>();
    gather_takes_the_rows_in_order<std::uint32_t>();
}

}  // namespace
}  // namespace puforest::testing
