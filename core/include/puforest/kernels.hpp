// The loops over the codes of a node, where a fit spends its time.
//
// They are compiled for several instruction sets, of which the best that the processor has is
// chosen at run time. All of them count integers, so all give the same answers.
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

// Codes that stand in lines, to be written in columns: code k of line l goes to
// out + k * out_stride + l * sizeof(code).
struct Lines {
    const std::byte* const* line;  // with kPadding more at the end, which may be any lines
    std::size_t n_lines;
    std::size_t begin;  // the byte at which the codes of a line begin
    std::size_t n_codes;
    const std::byte* const* next = nullptr;  // as many lines, which are wanted soon

    // Lines, and bytes behind the codes of each line, that may be read for nothing.
    static constexpr std::size_t kPadding = 32;
};

// `mask` holds a byte for each code: 255 for those that count, 0 for those that do not. At
// least one must count.
template <class CodeType>
struct KernelsOf {
    CodeRange (*range)(const CodeType* codes, std::size_t n);
    CodeRange (*masked_range)(const CodeType* codes, const std::uint8_t* mask, std::size_t n);

    // How many codes are at most `c`.
    std::uint32_t (*count)(const CodeType* codes, std::size_t n, Code c);
    std::uint32_t (*masked_count)(const CodeType* codes, const std::uint8_t* mask, std::size_t n,
                                  Code c);

    void (*transpose)(const Lines& lines, std::byte* out, std::size_t out_stride);
};

struct Kernels {
    const char* instruction_set;
    KernelsOf<std::uint8_t> of_8;
    KernelsOf<std::uint16_t> of_16;
    KernelsOf<std::uint32_t> of_32;

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

// Those that this processor can run, the slowest first; "baseline" runs everywhere.
std::span<const Kernels* const> available_kernels();

// The fastest of them, or the one that the environment variable PUFOREST_SIMD names; throws
// std::invalid_argument if it names none that is available.
const Kernels& kernels();

}  // namespace puforest
