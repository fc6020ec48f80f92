// Threads for independent tasks, watched by the calling thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace puforest {

// Called by the calling thread now and then with (tasks done, tasks in all). It stops the work
// by throwing; the exception reaches the caller once all workers have come home. It is never
// called by a worker, so it may touch what only the calling thread may (the interpreter).
using Poll = std::function<void(std::size_t, std::size_t)>;

// Set when the work is being abandoned; long tasks look at it and return early.
using StopFlag = std::atomic<bool>;

// Run task(0, stop) ... task(n_tasks - 1, stop), each once, on at most n_threads threads. The
// first exception of a task stops the rest and is rethrown here.
void run_tasks(std::size_t n_tasks, unsigned n_threads,
               const std::function<void(std::size_t, const StopFlag&)>& task, const Poll& poll);

}  // namespace puforest
