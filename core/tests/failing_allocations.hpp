// Makes selected allocations of the program fail.
#pragma once

#include <cstddef>

namespace puforest::testing {

enum class Failing { One, AllFrom };

// From now on, allocation k (counted over all threads, from 0) throws std::bad_alloc and, with
// AllFrom, every later one too, as if memory had run out.
void start_failing(std::size_t k, Failing failing);

// Let all allocations succeed again; returns whether any has failed.
bool stop_failing();

}  // namespace puforest::testing
