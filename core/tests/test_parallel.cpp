#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/parallel.hpp"

namespace puforest::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Wait in a task for a flag, such as the stop flag; false on timeout.
bool wait_for(const std::atomic<bool>& flag) {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    while (!flag) {
        if (Clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

struct PollError {};

// The message of the std::runtime_error thrown by run_tasks.
template <class Task>
std::string failure_of(std::size_t n_tasks, unsigned n_threads, const Task& task) {
    try {
        run_tasks(n_tasks, n_threads, task, Poll{});
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

TEST(parallel_every_task_runs_once) {
    for (unsigned n_threads = 0; n_threads <= 8; ++n_threads) {
        for (const std::size_t n_tasks : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> times(n_tasks);
            run_tasks(
                n_tasks, n_threads, [&](std::size_t i, const StopFlag& stop) { times[i] += !stop; },
                Poll{});
            for (const std::atomic<int>& t : times) CHECK(t == 1);
        }
    }
}

TEST(parallel_uses_all_allowed_threads) {
    std::atomic<int> here{0};
    std::atomic<int> met{0};
    run_tasks(
        3, 3,
        [&](std::size_t, const StopFlag&) {
            ++here;
            // All three threads meet here, or this times out after 20 seconds.
            const auto deadline = Clock::now() + std::chrono::seconds(20);
            while (here < 3 && Clock::now() < deadline) std::this_thread::yield();
            met += here == 3;
        },
        Poll{});
    CHECK(met == 3);

    std::atomic<int> running{0};
    std::atomic<bool> crowded{false};
    run_tasks(
        200, 2,
        [&](std::size_t, const StopFlag&) {
            if (++running > 2) crowded = true;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            --running;
        },
        Poll{});
    CHECK(!crowded);
}

TEST(parallel_an_exception_stops_the_rest) {
    std::atomic<std::size_t> started{0};
    const auto fails_at_3 = [&](std::size_t i, const StopFlag&) {
        ++started;
        if (i == 3) throw std::runtime_error("task 3");
    };
    CHECK(failure_of(100, 1, fails_at_3) == "task 3");
    CHECK(started == 4);

    for (unsigned n_threads = 2; n_threads <= 8; ++n_threads) {
        started = 0;
        std::atomic<bool> deaf{false};
        const auto fails_or_waits = [&](std::size_t i, const StopFlag& stop) {
            ++started;
            if (i == 1) throw std::runtime_error("task 1");
            if (!wait_for(stop)) deaf = true;
        };
        CHECK(failure_of(100, n_threads, fails_or_waits) == "task 1");
        CHECK(started <= n_threads);
        CHECK(!deaf);
    }
}

TEST(parallel_the_first_exception_wins) {
    std::atomic<bool> second_runs{false};
    const auto both_fail = [&](std::size_t i, const StopFlag& stop) {
        if (i == 0) {
            wait_for(second_runs);
            throw std::runtime_error("first");
        }
        second_runs = true;
        wait_for(stop);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        throw std::runtime_error("second");
    };
    CHECK(failure_of(2, 2, both_fail) == "first");
}

TEST(parallel_any_exception_type_is_rethrown) {
    const auto throws_a_number = [](std::size_t, const StopFlag&) { throw 5; };
    CHECK_THROWS(int, run_tasks(4, 2, throws_a_number, Poll{}));
}

TEST(parallel_a_throwing_poll_stops_the_work) {
    for (const unsigned n_threads : {1u, 2u, 4u}) {
        std::atomic<std::size_t> started{0};
        std::atomic<bool> deaf{false};
        int polls = 0;
        const auto waits = [&](std::size_t, const StopFlag& stop) {
            ++started;
            if (!wait_for(stop)) deaf = true;
        };
        const auto poll = [&](std::size_t done, std::size_t total) {
            CHECK(done == 0 && total == 50);
            if (++polls == 2) throw PollError{};
        };
        CHECK_THROWS(PollError, run_tasks(50, n_threads, waits, poll));
        CHECK(polls == 2);
        CHECK(started <= n_threads);
        CHECK(!deaf);
    }
}

TEST(parallel_polls_on_the_calling_thread) {
    const std::thread::id caller = std::this_thread::get_id();
    for (const unsigned n_threads : {1u, 3u}) {
        std::size_t last = 0;
        int polls = 0;
        run_tasks(
            30, n_threads,
            [](std::size_t, const StopFlag&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(8));
            },
            [&](std::size_t done, std::size_t total) {
                ++polls;
                CHECK(std::this_thread::get_id() == caller);
                CHECK(total == 30 && last <= done && done <= total);
                last = done;
            });
        CHECK(polls >= 1);
        CHECK(last > 0);
    }
}

TEST(parallel_no_tasks_is_fine) {
    for (const unsigned n_threads : {0u, 1u, 4u}) {
        run_tasks(
            0, n_threads, [](std::size_t, const StopFlag&) { throw std::runtime_error("ran"); },
            [](std::size_t done, std::size_t total) { CHECK(done == 0 && total == 0); });
    }
}

TEST(parallel_threads_and_portions_do_not_change_the_trees) {
    Data<> data = random_data(10);
    data.fold = random_folds(data.order.size(), 3);
    for (const Sampling& sampling :
         {Sampling{true, false, 40, 80}, Sampling{false, false, 40, 80, 3}}) {
        TrainParams params = default_params(data);
        params.n_trees = 7;
        params.sampling = sampling;
        const auto all = fit(data, params);
        CHECK(all[0] != all[1]);
        for (std::uint32_t n_threads = 2; n_threads <= 4; ++n_threads) {
            params.n_threads = n_threads;
            CHECK(same(fit(data, params), all));
        }
        params.first_tree = 2;
        params.n_trees = 3;
        CHECK(same(fit(data, params), std::span(all).subspan(2, 3)));
        params.seed = 8;
        CHECK(!same(fit(data, params), std::span(all).subspan(2, 3)));
    }
}

// Unless interrupted, these fits take minutes.
TEST(parallel_a_throwing_poll_stops_a_fit_quickly) {
    const Data<> data = random_data(17, {30, 60, 300, 0});
    TrainParams many_trees = default_params(data);
    many_trees.max_features = 300;
    many_trees.n_trees = 100'000;
    TrainParams one_tree = many_trees;
    one_tree.n_trees = 1;
    one_tree.n_thresholds = 500'000;
    TrainParams best_first = one_tree;
    best_first.max_leaf_nodes = 1000;
    for (TrainParams params : {many_trees, one_tree, best_first}) {
        for (const int last_poll : {1, 3}) {
            params.n_threads = 2;
            int polls = 0;
            const auto poll = [&](std::size_t done, std::size_t total) {
                CHECK(done <= total && total == params.n_trees);
                if (++polls == last_poll) throw PollError{};
            };
            const auto start = std::chrono::steady_clock::now();
            CHECK_THROWS(PollError, fit(data, params, {}, poll));
            CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
            CHECK(polls == last_poll);
        }
    }
}

}  // namespace
}  // namespace puforest::testing
