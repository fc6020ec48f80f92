// Compiled for processors with AVX2: only to be called where there is one.
#define PUFOREST_VECTOR_BYTES 32
#include "kernels_for.hpp"

namespace puforest {
extern constexpr Kernels kAvx2Kernels = kernels_named("avx2");
}  // namespace puforest
