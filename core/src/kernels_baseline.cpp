#define PUFOREST_VECTOR_BYTES 16
#include "kernels_for.hpp"

namespace puforest {
extern constexpr Kernels kBaselineKernels = kernels_named("baseline");
}  // namespace puforest
