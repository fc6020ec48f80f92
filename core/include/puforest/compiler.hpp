// Compiler extensions.
#pragma once

// Force inlining of small steps of the innermost loops that have several callers: the calls would
// cost 4% of the instructions of a fit.
#define PUFOREST_INLINE [[gnu::always_inline]]
