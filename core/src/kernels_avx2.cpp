// Compiled for AVX2; call only if the processor supports it.
#define PUFOREST_VECTOR_BYTES 32
#include "kernels_for.hpp"

namespace puforest {
extern constexpr Kernels kAvx2Kernels = kernels_named("avx2");
}  // namespace puforest
