#include "puforest/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace puforest {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(50);

}  // namespace

void run_tasks(std::size_t n_tasks, unsigned n_threads,
               const std::function<void(std::size_t, const StopFlag&)>& task, const Poll& poll) {
    StopFlag stop{false};
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by the mutex.
    std::size_t done = 0;
    std::size_t running = 0;
    std::size_t ready = 0;
    bool started = false;
    std::exception_ptr failure;

    const auto work = [&] {
        {
            // Exceptions need thread-local memory, which is allocated at first use; if that fails,
            // the process terminates. Allocate it before the work uses up the memory.
            static_cast<void>(std::uncaught_exceptions());
            std::unique_lock lock(mutex);
            ++ready;
            changed.notify_all();
            changed.wait(lock, [&] { return started; });
        }
        for (;;) {
            const std::size_t i = next.fetch_add(1);
            if (i >= n_tasks || stop.load(std::memory_order_relaxed)) break;
            try {
                task(i, stop);
                const std::lock_guard lock(mutex);
                ++done;
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                stop = true;
            }
        }
        const std::lock_guard lock(mutex);
        --running;
        changed.notify_all();
    };

    std::vector<std::thread> threads;
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, n_threads), n_tasks);
    threads.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i) {
        {
            const std::lock_guard lock(mutex);
            ++running;
        }
        try {
            threads.emplace_back(work);
        } catch (const std::exception&) {
            // The system cannot start more threads: continue with the existing ones.
            const std::lock_guard lock(mutex);
            --running;
            break;
        }
    }
    if (threads.empty() && n_tasks > 0) {
        running = 1;
        started = true;
        work();
    }

    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready >= threads.size(); });
    started = true;
    changed.notify_all();
    while (running > 0) {
        changed.wait_for(lock, kPollInterval, [&] { return running == 0; });
        if (!poll || stop) continue;
        const std::size_t so_far = done;
        lock.unlock();
        std::exception_ptr caught;
        try {
            poll(so_far, n_tasks);
        } catch (...) {
            caught = std::current_exception();
            stop = true;
        }
        lock.lock();
        if (caught && !failure) failure = caught;
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace puforest
