// Compiler extensions.
#pragma once

// Force inlining of small steps of the innermost loops that have several callers: the calls would
// cost 4% of the instructions of a fit. Sanitized builds would take minutes for it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PUFOREST_INLINE
#define PUFOREST_INLINE_LAMBDA
#else
#define PUFOREST_INLINE [[gnu::always_inline]]
#define PUFOREST_INLINE_LAMBDA __attribute__((always_inline))  // after its parameters
#endif

// Keep code for less common data out of these loops.
#define PUFOREST_RARE [[gnu::noinline]]
