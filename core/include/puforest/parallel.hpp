// Threads for independent tasks, supervised by the calling thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace puforest {

// Called regularly on the calling thread with (tasks done, total tasks). It stops the work by
// throwing; the exception reaches the caller after all workers have finished. It is never called
// by a worker, so it may use what only the calling thread may (the interpreter).
using Poll = std::function<void(std::size_t, std::size_t)>;

// Set to cancel the work; long tasks check it and return early.
using StopFlag = std::atomic<bool>;

// Run task(0, stop) ... task(n_tasks - 1, stop), each once, on at most n_threads threads. The
// first exception of a task cancels the others and is rethrown here.
void run_tasks(std::size_t n_tasks, unsigned n_threads,
               const std::function<void(std::size_t, const StopFlag&)>& task, const Poll& poll);

}  // namespace puforest
