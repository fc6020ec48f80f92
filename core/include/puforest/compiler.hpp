// What standard C++ has no word for.
#pragma once

// Inline even where many callers make the compiler keep one copy: small steps of the innermost
// loops, whose calls would cost 4% of the instructions of a fit.
#define PUFOREST_INLINE [[gnu::always_inline]]
