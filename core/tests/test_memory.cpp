#include <cstdint>
#include <new>
#include <vector>

#include "check.hpp"
#include "failing_allocations.hpp"
#include "helpers.hpp"
#include "puforest/memory.hpp"
#include "puforest/workset.hpp"

namespace puforest::testing {
namespace {

// Whether an allocation of `call` failed; it may throw std::bad_alloc or continue without it.
template <class Call>
bool with_failing(std::size_t k, Failing failing, Call&& call) {
    bool threw = false;
    start_failing(k, failing);
    try {
        call();
    } catch (const std::bad_alloc&) {
        threw = true;
    }
    const bool failed = stop_failing();
    CHECK(failed || !threw);
    return failed;
}

// Threads start slowly under ThreadSanitizer, which detects races, not invalid writes.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kStep = 8;
#else
constexpr std::size_t kStep = 1;
#endif

// Let each allocation of `call` fail in turn, alone and with all that follow. Returns their number.
template <class Call>
std::size_t fail_each_allocation(Call&& call) {
    std::size_t k = 0;
    for (const Failing failing : {Failing::One, Failing::AllFrom}) {
        for (k = 0; with_failing(k, failing, call); k += kStep) {
        }
    }
    return k;
}

TEST(memory_arena_survives_a_failed_allocation) {
    constexpr std::size_t kMost = std::size_t{40} << 20;  // more than a chunk
    for (const std::size_t before : {std::size_t{0}, std::size_t{100}}) {
        for (std::size_t k = 0; k < 2; ++k) {
            Arena arena;
            if (before > 0) arena.take(before);
            CHECK(with_failing(k, Failing::One, [&] { arena.take(kMost); }));
            // The memory handed out next must be valid: write to all of it.
            std::byte* const some = arena.take(kMost);
            for (std::size_t i = 0; i < kMost; i += kCacheLine) some[i] = std::byte{1};
            CHECK(some[kMost - kCacheLine] == std::byte{1});
        }
    }
}

TEST(memory_pool_takes_sets_back_without_allocating) {
    const Data<> data = random_data(1);
    const Columns columns = encode(data.matrix(), {data.order, data.n_labeled}, {}, 1, Poll{});
    WorksetPool pool(columns, {}, true, 2);
    Worksets first = pool.take();
    Worksets second = pool.take();
    const Workset* const kept = second[0].get();
    CHECK(!with_failing(0, Failing::AllFrom, [&] {
        pool.give_back(std::move(first));
        pool.give_back(std::move(second));
    }));
    CHECK(pool.take()[0].get() == kept);
}

TEST(memory_workset_copies_again_after_a_failed_copy) {
    const Data<> data = random_data(2, {200, 3000, 6, 0});
    const Columns columns = encode(data.matrix(), {data.order, data.n_labeled}, {}, 1, Poll{});
    const Workset all(columns, {}, true);
    const auto some_rows = [](std::size_t n) {
        std::vector<Row> rows(n);
        for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<Row>(200 + 3 * i);
        return rows;
    };
    Workset set(columns, {}, true);
    for (const std::size_t n : {40, 900}) {
        for (std::size_t k = 0; k < 2; ++k) {
            std::vector<Row> rows = some_rows(n);
            with_failing(k, Failing::One, [&] { set.copy(all, {{}, rows}); });
            std::vector<Row> again = some_rows(n);
            set.copy(all, {{}, again});
            for (std::size_t i = 0; i < n; ++i) {
                const auto code = [&](const Workset& from, Row row) {
                    return from.visit(5, [&](auto codes) -> Code { return codes[row]; });
                };
                CHECK(code(set, again[i]) == code(all, some_rows(n)[i]));
            }
        }
    }
}

// Fits large enough for trees to copy rows, in all the ways that allocate differently.
TEST(memory_any_allocation_of_a_fit_may_fail) {
    Data<> data = random_data(3, {200, 1000, 5, 0});
    data.fold = random_folds(data.order.size(), 5);
    std::vector<double> ones(data.order.size(), 1.0);
    for (const std::uint32_t n_threads : {1u, 2u}) {
        for (const Thresholds thresholds : {Thresholds::Random, Thresholds::Optimal}) {
            for (const bool weighted : {false, true}) {
                TrainParams params = default_params(data);
                params.thresholds = thresholds;
                params.n_trees = 3;
                params.n_threads = n_threads;
                params.max_depth = 5;
                if (weighted) params.sampling = {true, false, 150, 900};
                if (!weighted && thresholds == Thresholds::Optimal) params.sampling.n_folds = 5;
                if (!weighted && thresholds == Thresholds::Random) params.max_leaf_nodes = 30;
                const RowWeights weights =
                    weighted ? RowWeights{ones.data(), ones.data()} : RowWeights{};
                const auto expected = fit(data, params, weights);
                const std::size_t tried = fail_each_allocation(
                    [&] { CHECK(same(fit(data, params, weights), expected)); });
                CHECK(tried > 50);
                CHECK(same(fit(data, params, weights), expected));
            }
        }
    }
}

TEST(memory_any_allocation_of_a_fit_to_shared_codes_may_fail) {
    const Data<> data = random_data(6, {200, 1000, 5, 0});
    TrainParams params = default_params(data);
    params.max_depth = 5;
    const auto expected = fit(data, params);
    for (const std::uint32_t n_threads : {1u, 2u}) {
        params.n_threads = n_threads;
        const Columns columns = encode(data.matrix(), data.fit_rows(), {}, n_threads, Poll{});
        const auto fit_codes = [&] { return train(columns, data.fit_rows(), {}, params, Poll{}); };
        const std::size_t tried = fail_each_allocation([&] { CHECK(same(fit_codes(), expected)); });
        CHECK(tried > 20);
        CHECK(same(fit_codes(), expected));
    }
}

// The same with missing values and categories: a sparse matrix, and weights with constraints.
TEST(memory_any_allocation_of_a_fit_to_a_table_may_fail) {
    const Table table = random_table(5, {150, 900, 6, 40});
    const Sparse<double> sparse(table.matrix());
    const std::vector<double> ones(table.order.size(), 1.0);
    const auto check = [&](const TrainParams& params, auto&& fit_table) {
        const auto expected = fit_table(params);
        CHECK(!expected[0].categories.empty());
        const std::size_t tried =
            fail_each_allocation([&] { CHECK(same(fit_table(params), expected)); });
        CHECK(tried > 50);
        CHECK(same(fit_table(params), expected));
    };
    TrainParams params = table_params(table);
    params.n_trees = 2;
    params.max_features = 4;
    params.max_depth = 4;
    check(params, [&](const TrainParams& some) {
        return train(sparse.matrix(), table.fit_rows(), {}, some, Poll{});
    });
    params.thresholds = Thresholds::Optimal;
    params.max_leaf_nodes = 20;
    params.increasing_features = {0, 4};
    params.n_threads = 2;
    check(params,
          [&](const TrainParams& some) { return fit(table, some, {ones.data(), ones.data()}); });
}

TEST(memory_any_allocation_of_a_prediction_may_fail) {
    const Data<> data = random_data(4, {300, 2500, 5, 0});
    TrainParams params = default_params(data);
    params.sampling = {true, false, 200, 1200};
    params.n_trees = 15;
    params.max_depth = 11;  // enough steps for several threads
    const auto trees = fit(data, params);
    const Forest forest(trees);
    const auto features = static_cast<std::uint32_t>(data.cols);
    const Sparse<double> sparse(data.matrix());
    const auto predict = [&](unsigned n_threads) {
        // Loading a model creates a predictor from its arrays.
        const Predictor<double> predictor = forest.predictor(features);
        std::vector<double> mean(data.rows());
        std::vector<double> held_out(data.rows());
        std::vector<std::int32_t> leaves(data.rows() * trees.size());
        predictor.mean(data.matrix(), mean.data(), n_threads, Poll{});
        predictor.leaves(sparse.matrix(), leaves.data(), n_threads, Poll{});
        params.n_threads = n_threads;
        predictor.mean_held_out(data.matrix(), data.fit_rows(), params, held_out.data(), Poll{});
        mean.insert(mean.end(), leaves.begin(), leaves.end());
        for (const Row row : data.order) mean.push_back(held_out[row]);
        return mean;
    };
    const auto expected = predict(1);
    for (const unsigned n_threads : {1u, 2u}) {
        const std::size_t tried =
            fail_each_allocation([&] { CHECK(predict(n_threads) == expected); });
        CHECK(tried > 20);
    }
}

}  // namespace
}  // namespace puforest::testing
