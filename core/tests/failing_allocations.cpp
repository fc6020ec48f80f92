#include "failing_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace puforest::testing {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> first_to_fail{kNever};
std::atomic<std::size_t> last_to_fail{kNever};
std::atomic<std::size_t> so_far{0};
std::atomic<bool> any_failed{false};

// Called by every operator new of the program, including those for large tables.
void* take(std::size_t bytes, std::size_t alignment) {
    if (first_to_fail != kNever) {
        const std::size_t k = so_far++;
        if (k >= first_to_fail && k <= last_to_fail) {
            any_failed = true;
            throw std::bad_alloc();
        }
    }
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, size > 0 ? size : alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void start_failing(std::size_t k, Failing failing) {
    so_far = 0;
    any_failed = false;
    last_to_fail = failing == Failing::One ? k : kNever;
    first_to_fail = k;
}

bool stop_failing() {
    first_to_fail = kNever;
    return any_failed;
}

}  // namespace puforest::testing

void* operator new(std::size_t bytes) {
    return puforest::testing::take(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return puforest::testing::take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// For programs in other languages that preload this file as a library.
extern "C" {
void puforest_start_failing(std::size_t k, bool all_from) {
    using puforest::testing::Failing;
    puforest::testing::start_failing(k, all_from ? Failing::AllFrom : Failing::One);
}
bool puforest_stop_failing() { return puforest::testing::stop_failing(); }
}
