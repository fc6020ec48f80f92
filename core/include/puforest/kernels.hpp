// The loops over the codes of a node, where a fit spends most of its time, and over the hashes of
// rows.
//
// They are compiled for several instruction sets, and the best one available is selected at run
// time. All of them count integers, so all give the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "puforest/types.hpp"

namespace puforest {

struct CodeRange {
    Code low;
    Code high;
};

// The codes below a limit, and the number of the others. If there are none, low is above high.
struct CodesBelow {
    Code low;
    Code high;
    std::uint32_t n_other;
};

// Codes stored in lines, to be transposed into columns: code k of line l goes to
// out + k * out_stride + l * sizeof(code).
struct Lines {
    const std::byte* const* line;  // followed by kPadding more pointers to any lines
    std::size_t n_lines;
    std::size_t begin;  // offset of the codes in a line, in bytes
    std::size_t n_codes;
    const std::byte* const* next = nullptr;  // as many lines to prefetch

    // Number of extra lines, and of bytes after the codes of each line, that may be read.
    static constexpr std::size_t kPadding = 32;
};

// `mask` has a byte for each code: 255 to include it, 0 to ignore it. At least one code must be
// included in ranges.
template <class CodeType>
struct KernelsOf {
    CodeRange (*range)(const CodeType* codes, std::size_t n);
    CodeRange (*masked_range)(const CodeType* codes, const std::uint8_t* mask, std::size_t n);

    // `limit` is the largest code.
    CodesBelow (*range_below)(const CodeType* codes, std::size_t n, Code limit);
    CodesBelow (*masked_range_below)(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                                     Code limit);

    // Number of codes that are at most `c`.
    std::uint32_t (*count)(const CodeType* codes, std::size_t n, Code c);
    std::uint32_t (*masked_count)(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                                  Code c);

    void (*transpose)(const Lines& lines, std::byte* out, std::size_t out_stride);
};

// Codes of a column with 256 values and missing ones, which have the bit `gap` set in `gaps`.
struct CodesWithGaps {
    const std::uint8_t* codes;
    const std::uint8_t* gaps;
    std::uint8_t gap;

    static constexpr Code kMissing = 256;

    // The code of missing values follows the others. Their byte in `codes` is 0.
    std::uint16_t operator[](std::size_t row) const {
        return static_cast<std::uint16_t>(codes[row] | unsigned{(gaps[row] & gap) != 0} << 8);
    }

    // The codes from a row on.
    CodesWithGaps from(std::size_t row) const { return {codes + row, gaps + row, gap}; }
};

// The same loops for such columns.
struct KernelsWithGaps {
    CodesBelow (*masked_range)(const CodesWithGaps& codes, const std::uint8_t* mask, std::size_t n);
    std::uint32_t (*masked_count)(const CodesWithGaps& codes, const std::uint8_t* mask,
                                  std::size_t n, Code c);
};

struct Kernels {
    const char* instruction_set;

    // Set the marks of those of the ids first, first + 1, ... that have derive(key, id) <= limit.
    void (*mark_hashes)(std::uint64_t key, std::uint64_t first, std::uint64_t limit,
                        std::uint8_t* marks, std::size_t n);

    KernelsOf<std::uint8_t> of_8;
    KernelsOf<std::uint16_t> of_16;
    KernelsOf<std::uint32_t> of_32;
    KernelsWithGaps with_gaps;

    template <class CodeType>
    const KernelsOf<CodeType>& of() const {
        if constexpr (sizeof(CodeType) == 1) {
            return of_8;
        } else if constexpr (sizeof(CodeType) == 2) {
            return of_16;
        } else {
            return of_32;
        }
    }
};

// Kernels that this processor supports, the slowest first; "baseline" runs everywhere.
std::span<const Kernels* const> available_kernels();

// The fastest of them, or the one selected by the environment variable PUFOREST_SIMD. Throws
// std::invalid_argument if that is not available.
const Kernels& kernels();

}  // namespace puforest
