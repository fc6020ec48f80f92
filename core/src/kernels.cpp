#include "puforest/kernels.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace puforest {

extern const Kernels kBaselineKernels;
#ifdef PUFOREST_AVX2
extern const Kernels kAvx2Kernels;
#endif

std::span<const Kernels* const> available_kernels() {
    static const std::vector<const Kernels*> available = [] {
        std::vector<const Kernels*> found{&kBaselineKernels};
#ifdef PUFOREST_AVX2
        if (__builtin_cpu_supports("avx2")) found.push_back(&kAvx2Kernels);
#endif
        return found;
    }();
    return available;
}

const Kernels& kernels() {
    const char* const wanted = std::getenv("PUFOREST_SIMD");
    if (wanted == nullptr || *wanted == '\0') return *available_kernels().back();
    std::string names;
    for (const Kernels* const some : available_kernels()) {
        if (std::string(some->instruction_set) == wanted) return *some;
        names += (names.empty() ? "" : ", ") + std::string(some->instruction_set);
    }
    throw std::invalid_argument("PUFOREST_SIMD=" + std::string(wanted) +
                                " is not available on this machine; choose one of: " + names);
}

}  // namespace puforest
