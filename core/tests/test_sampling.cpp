#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/sampling.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

constexpr std::uint32_t kLabeled = 12, kRows = 40, kUnlabeled = kRows - kLabeled;

// A sample among rows whose ids are their positions.
Sample draw_among(const Sampling& sampling, std::uint64_t seed, std::size_t tree,
                  std::uint32_t n_labeled, std::uint32_t n_rows) {
    std::vector<Row> order(n_rows);
    std::iota(order.begin(), order.end(), Row{0});
    TrainParams params;
    params.seed = seed;
    params.sampling = sampling;
    return draw_sample(params, tree, {order, n_labeled});
}

Sample draw(const Sampling& sampling, std::uint64_t tree) {
    return draw_among(sampling, 3, tree, kLabeled, kRows);
}

bool is_sound(const Sample& sample, std::uint32_t n_labeled, std::uint32_t n_rows) {
    const auto middle = sample.rows.begin() + sample.n_labeled;
    return sample.n_labeled > 0 && sample.n_labeled < sample.rows.size() &&
           std::is_sorted(sample.rows.begin(), sample.rows.end()) &&
           std::all_of(
               sample.rows.begin(), middle, [&](Row r) { return r < n_labeled; }) &&
           std::all_of(
               middle, sample.rows.end(), [&](Row r) { return r >= n_labeled && r < n_rows; });
}

// How often each row was drawn over many trees.
std::vector<double> tally(const Sampling& sampling, std::uint64_t n_trees) {
    std::vector<double> times(kRows);
    for (std::uint64_t tree = 0; tree < n_trees; ++tree) {
        for (const Row row : draw(sampling, tree).rows) ++times[row];
    }
    return times;
}

// All counts are within six standard deviations of `mean` for draws with replacement (fewer
// without), and their variance is not much smaller either: draws that are too even are not random.
bool looks_uniform(std::span<const double> times, double mean) {
    double chi = 0;
    for (const double t : times) {
        if (std::abs(t - mean) > 6 * std::sqrt(mean)) return false;
        chi += (t - mean) * (t - mean) / mean;
    }
    const double n = static_cast<double>(times.size());
    return chi < n + 6 * std::sqrt(2 * n) && chi > n / 20;
}

TEST(sampling_every_row_is_the_identity) {
    const Sample sample = draw({false, false, kLabeled, kUnlabeled}, 5);
    CHECK(sample.n_labeled == kLabeled);
    CHECK(sample.rows.size() == kRows);
    for (Row row = 0; row < sample.rows.size(); ++row) CHECK(sample.rows[row] == row);
}

TEST(sampling_without_replacement) {
    for (std::uint64_t tree = 0; tree < 50; ++tree) {
        for (const auto& [labeled, unlabeled] :
             {std::pair{1u, 1u}, {5u, 10u}, {kLabeled, 3u}, {2u, kUnlabeled}}) {
            const Sample sample = draw({false, false, labeled, unlabeled}, tree);
            CHECK(is_sound(sample, kLabeled, kRows));
            CHECK(sample.n_labeled == labeled);
            CHECK(sample.rows.size() == labeled + unlabeled);
            CHECK(std::set(sample.rows.begin(), sample.rows.end()).size() == sample.rows.size());
        }
    }
}

TEST(sampling_with_replacement) {
    bool repeats = false;
    for (std::uint64_t tree = 0; tree < 50; ++tree) {
        for (const auto& [labeled, unlabeled] :
             {std::pair{1u, 1u}, {kLabeled, kUnlabeled}, {30u, 100u}}) {
            const Sample sample = draw({true, false, labeled, unlabeled}, tree);
            CHECK(is_sound(sample, kLabeled, kRows));
            CHECK(sample.n_labeled == labeled);
            CHECK(sample.rows.size() == labeled + unlabeled);
            repeats |=
                std::adjacent_find(sample.rows.begin(), sample.rows.end()) != sample.rows.end();
        }
    }
    CHECK(repeats);
}

TEST(sampling_together) {
    std::set<std::uint32_t> labeled;
    for (std::uint64_t tree = 0; tree < 50; ++tree) {
        const Sample sample = draw({true, true, 0, 0}, tree);
        CHECK(is_sound(sample, kLabeled, kRows));
        CHECK(sample.rows.size() == kRows);
        labeled.insert(sample.n_labeled);
    }
    CHECK(labeled.size() > 3);
}

// With one labeled row among many, a third of the draws would miss it, and vice versa.
TEST(sampling_together_always_has_both_groups) {
    for (const std::uint32_t n_labeled : {1u, 2u, 28u, 29u}) {
        bool topped_up = false;
        for (std::uint64_t tree = 0; tree < 100; ++tree) {
            const Sample sample = draw_among({true, true, 0, 0}, 4, tree, n_labeled, 30);
            CHECK(is_sound(sample, n_labeled, 30));
            CHECK(sample.rows.size() == 30 || sample.rows.size() == 31);
            topped_up |= sample.rows.size() == 31;
        }
        CHECK(topped_up);
    }
    const Sample two = draw_among({true, true, 0, 0}, 1, 0, 1, 2);
    CHECK(is_sound(two, 1, 2));
}

TEST(sampling_depends_only_on_the_key) {
    for (const Sampling& s : {Sampling{true, false, 12, 28}, Sampling{false, false, 6, 14},
                              Sampling{true, true, 0, 0}}) {
        for (std::uint64_t tree = 0; tree < 20; ++tree) {
            CHECK(draw(s, tree).rows == draw(s, tree).rows);
            CHECK(draw(s, tree).rows != draw(s, tree + 1).rows);
        }
    }
}

TEST(sampling_is_uniform) {
    constexpr std::uint64_t kTrees = 4000;
    const double trees = kTrees;
    const auto groups_look_uniform = [&](const Sampling& sampling, double labeled,
                                         double unlabeled) {
        const std::vector<double> times = tally(sampling, kTrees);
        return looks_uniform(std::span(times).first(kLabeled), trees * labeled / kLabeled) &&
               looks_uniform(std::span(times).subspan(kLabeled), trees * unlabeled / kUnlabeled);
    };
    CHECK(groups_look_uniform({true, false, 12, 28}, 12, 28));
    CHECK(groups_look_uniform({true, false, 3, 50}, 3, 50));
    CHECK(groups_look_uniform({false, false, 3, 7}, 3, 7));
    CHECK(groups_look_uniform({false, false, 1, 14}, 1, 14));
    CHECK(groups_look_uniform({true, true, 0, 0}, kLabeled, kUnlabeled));
}

constexpr std::uint32_t kFolds = 3;

// The sample of a tree among rows of three folds.
Sample draw_with_folds(Sampling sampling, std::size_t tree, const FitRows& rows) {
    TrainParams params;
    params.seed = 3;
    params.sampling = sampling;
    params.sampling.n_folds = kFolds;
    return draw_sample(params, tree, rows);
}

TEST(sampling_leaves_out_the_fold_of_the_tree) {
    std::vector<Row> order(kRows);
    std::iota(order.begin(), order.end(), Row{0});
    const std::vector<std::uint8_t> fold = random_folds(kRows, kFolds);
    const FitRows rows{order, kLabeled, fold};
    for (std::size_t tree = 0; tree < 30; ++tree) {
        const auto is_seen = [&](Row row) { return fold[row] != tree % kFolds; };
        std::vector<Row> seen;
        for (Row row = 0; row < kRows; ++row) {
            if (is_seen(row)) seen.push_back(row);
        }
        const auto middle = std::lower_bound(seen.begin(), seen.end(), kLabeled);
        const auto n_labeled = static_cast<std::uint32_t>(middle - seen.begin());
        const auto n_unlabeled = static_cast<std::uint32_t>(seen.end() - middle);
        for (const bool replace : {false, true}) {
            for (const auto& [labeled, unlabeled] :
                 {std::pair{1u, 1u}, {5u, kUnlabeled}, {kLabeled, 7u}, {99u, 99u}}) {
                const Sample sample =
                    draw_with_folds({replace, false, labeled, unlabeled}, tree, rows);
                CHECK(is_sound(sample, kLabeled, kRows));
                CHECK(std::all_of(sample.rows.begin(), sample.rows.end(), is_seen));
                CHECK(sample.n_labeled == std::min(labeled, n_labeled));
                CHECK(sample.rows.size() == sample.n_labeled + std::min(unlabeled, n_unlabeled));
            }
        }
        CHECK(draw_with_folds({false, false, 99, 99}, tree, rows).rows == seen);
    }
}

TEST(sampling_with_folds_is_uniform) {
    constexpr std::size_t kTrees = 12'000;
    constexpr std::uint32_t kAll = 39;  // a third of each group in each fold
    std::vector<Row> order(kAll);
    std::iota(order.begin(), order.end(), Row{0});
    std::vector<std::uint8_t> fold(kAll);
    for (Row row = 0; row < kAll; ++row) fold[row] = static_cast<std::uint8_t>(row % kFolds);
    for (const bool replace : {false, true}) {
        std::vector<double> times(kAll);
        for (std::size_t tree = 0; tree < kTrees; ++tree) {
            const Sample sample =
                draw_with_folds({replace, false, 4, 9}, tree, {order, kLabeled, fold});
            for (const Row row : sample.rows) ++times[row];
        }
        CHECK(looks_uniform(std::span(times).first(kLabeled), kTrees * 4.0 / kLabeled));
        CHECK(looks_uniform(std::span(times).subspan(kLabeled), kTrees * 9.0 / (kAll - kLabeled)));
    }
}

TEST(sampling_ignores_folds_without_their_number) {
    const std::vector<Row> order(kRows);
    const std::vector<std::uint8_t> fold(kRows, 9);
    TrainParams params;
    params.sampling = {true, false, 8, 9};
    check_sampling({order, kLabeled, fold}, params.sampling);
    CHECK(draw_sample(params, 4, {order, kLabeled, fold}).rows ==
          draw_sample(params, 4, {order, kLabeled}).rows);
}

// The ids that a tree draws from some positions of a large table.
std::vector<std::uint64_t> drawn_ids(const TrainParams& params, std::size_t tree,
                                     const std::vector<std::uint64_t>& ids, std::uint32_t n_labeled,
                                     double complete = 1) {
    const std::vector<Row> order(ids.size());  // not used, since there are ids
    const Sample sample = draw_sample(params, tree, {order, n_labeled, {}, 0, ids, complete});
    std::vector<std::uint64_t> drawn;
    for (const Row row : sample.rows) drawn.push_back(ids[row]);
    return drawn;
}

// If the rows that a tree draws are kept, and any others are dropped, it draws the same ones.
TEST(sampling_depends_on_ids_and_not_on_other_rows) {
    constexpr std::uint32_t kMany = 3000;
    std::vector<std::uint64_t> ids(kMany);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = (std::uint64_t{1} << 40) + 7 * i;
    TrainParams params;
    params.seed = 5;
    for (const bool replace : {false, true}) {
        params.sampling = {replace, false, 10, 200};
        for (std::size_t tree = 0; tree < 10; ++tree) {
            const std::vector<std::uint64_t> drawn = drawn_ids(params, tree, ids, kLabeled);
            CHECK(drawn.size() == 210);
            std::vector<std::uint64_t> part(ids.begin(), ids.begin() + kLabeled);
            Rng rng(tree);
            for (std::size_t i = kLabeled; i < ids.size(); ++i) {
                const bool is_drawn = std::binary_search(drawn.begin(), drawn.end(), ids[i]);
                if (is_drawn || rng.below(3) == 0) part.push_back(ids[i]);
            }
            CHECK(part.size() < kMany / 2);
            CHECK(drawn_ids(params, tree, part, kLabeled) == drawn);
            CHECK(drawn_ids(params, tree, part, kLabeled, 0.2) == drawn);
            CHECK_THROWS(IncompleteSample, drawn_ids(params, tree, part, kLabeled, 0.02));
            part.resize(100);
            CHECK_THROWS(IncompleteSample, drawn_ids(params, tree, part, kLabeled, 0.2));
        }
    }
}

// The smaller of two samples of a tree is a part of the larger one.
TEST(sampling_is_nested) {
    for (const bool replace : {false, true}) {
        for (std::size_t tree = 0; tree < 20; ++tree) {
            const Sample few = draw({replace, false, 4, 9}, tree);
            const Sample more = draw({replace, false, 8, 20}, tree);
            CHECK(std::ranges::includes(more.rows, few.rows));
        }
    }
}

// Marks are those of the rows that a sample of this size draws, and a few more.
TEST(sampling_marks_early_rows) {
    constexpr std::uint32_t kMany = 200'000;
    constexpr std::uint64_t kFirst = std::uint64_t{1} << 33;
    std::vector<std::uint64_t> ids(kMany);
    std::iota(ids.begin(), ids.end(), kFirst);
    TrainParams params;
    params.seed = 7;
    params.sampling = {false, false, 1, 1000};
    const std::vector<SampledFraction> samples{{7, 3, 0.007}, {7, 4, 0.007}};
    std::vector<std::uint8_t> marks(kMany);
    mark_sampled(kFirst, samples, marks, 2, {});
    const auto n_marked = std::ranges::count(marks, 1);
    CHECK(n_marked > 2500 && n_marked < 3100);
    for (const std::size_t tree : {3u, 4u}) {
        for (const std::uint64_t id : drawn_ids(params, tree, ids, 1)) {
            CHECK(id == kFirst || marks[id - kFirst] == 1);
        }
    }
}

TEST(sampling_shares_samples) {
    std::vector<Row> order(kRows);
    std::iota(order.begin(), order.end(), Row{0});
    const std::vector<std::uint8_t> fold = random_folds(kRows, kFolds);
    const FitRows rows{order, kLabeled, fold};
    TrainParams params;
    params.sampling = {false, false, 4, 9, kFolds, 0, 2 * kFolds, 8};
    TrainParams other = params;
    other.seed = 1;
    check_sampling(rows, params.sampling);
    for (std::size_t tree = 0; tree < 2 * kFolds; ++tree) {
        const Sample sample = draw_sample(params, tree, rows);
        CHECK(draw_sample(other, tree, rows).rows == sample.rows);
        CHECK(draw_sample(params, tree + 2 * kFolds, rows).rows == sample.rows);
        CHECK(draw_sample(params, tree + kFolds, rows).rows != sample.rows);
    }
    params.sampling.n_samples = 2 * kFolds + 1;
    CHECK_THROWS(std::invalid_argument, check_sampling(rows, params.sampling));
    const std::vector<std::uint64_t> ids(kRows - 1);
    CHECK_THROWS(std::invalid_argument,
                 check_sampling({order, kLabeled, {}, 0, ids}, {false, false, 4, 9}));
}

TEST(sampling_rejects_invalid_folds) {
    const std::vector<Row> order(kRows);
    const auto check = [&](const std::vector<std::uint8_t>& fold, bool together, unsigned n_folds) {
        check_sampling({order, kLabeled, fold}, {together, together, 5, 5, n_folds});
    };
    const std::vector<std::uint8_t> fold = random_folds(kRows, kFolds);
    check(fold, false, kFolds);
    check(fold, false, 500);
    const auto refuses = [&](const std::vector<std::uint8_t>& changed, bool together,
                             unsigned n_folds) {
        CHECK_THROWS(std::invalid_argument, check(changed, together, n_folds));
    };
    refuses({}, false, kFolds);
    refuses({fold.begin(), fold.end() - 1}, false, kFolds);
    refuses(fold, true, kFolds);
    refuses(fold, false, 2);
    refuses(std::vector<std::uint8_t>(kRows), false, 1);
    std::vector<std::uint8_t> in_one = fold;
    std::fill_n(in_one.begin(), kLabeled, std::uint8_t{2});
    refuses(in_one, false, kFolds);
    in_one[3] = 0;
    check(in_one, false, kFolds);
    std::fill(in_one.begin() + kLabeled, in_one.end(), std::uint8_t{1});
    refuses(in_one, false, kFolds);
}

TEST(rng_below_and_uniform) {
    Rng rng(9);
    std::vector<double> times(7);
    std::vector<double> tenths(10);
    for (int i = 0; i < 70'000; ++i) {
        ++times.at(rng.below(7));
        const double u = rng.uniform();
        CHECK(u >= 0 && u < 1);
        ++tenths.at(static_cast<std::size_t>(u * 10));
    }
    CHECK(looks_uniform(times, 10'000));
    CHECK(looks_uniform(tenths, 7'000));
    CHECK(rng.below(1) == 0);
    for (int i = 0; i < 100; ++i) CHECK(rng.below(std::uint64_t{1} << 63) < std::uint64_t{1} << 63);
}

TEST(rng_keys_do_not_collide) {
    std::set<std::uint64_t> keys;
    std::size_t made = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (std::uint64_t tree = 0; tree < 50; ++tree) {
            const std::uint64_t key = tree_key(seed, tree);
            for (const std::uint64_t k :
                 {key, derive(key, kLeft), derive(key, kRight), derive(key, kSample),
                  derive(derive(key, kLeft), kLeft), derive(derive(key, kLeft), kRight),
                  derive(derive(key, kRight), kLeft)}) {
                keys.insert(k);
                ++made;
            }
        }
    }
    CHECK(keys.size() == made);
}

// Column 0 spans [0, 1] with nearly all rows near 0; 1 to 3 are identical; 4 is constant.
TEST(splits_are_uniform) {
    Data<> data = random_data(6, {30, 70, 5, 0});
    for (std::size_t i = 0; i < data.rows(); ++i) {
        data.x[i * 5] *= 0.01;
        data.x[i * 5 + 4] = 3;
    }
    data.x[data.order[0] * 5] = 0;
    data.x[data.order[99] * 5] = 1;
    TrainParams params = default_params(data);
    params.max_features = 1;
    params.max_depth = 1;
    params.n_trees = 4000;
    std::vector<double> features(5), tenths(10);
    for (const Tree& tree : fit(data, params)) {
        ++features.at(static_cast<std::size_t>(tree.feature[0]));
        if (tree.feature[0] == 0) ++tenths[static_cast<std::size_t>(tree.threshold[0] * 10)];
    }
    CHECK(features[4] == 0);
    CHECK(looks_uniform(std::span(features).first(4), 1000));
    CHECK(looks_uniform(tenths, features[0] / 10));
}

// Ranges that overflow, adjacent floats, and zeros of both signs.
TEST(splits_of_extreme_values_are_valid) {
    using Limits = std::numeric_limits<double>;
    const std::vector<double> values{-Limits::max(),
                                     -Limits::denorm_min(),
                                     -0.0,
                                     0.0,
                                     Limits::denorm_min(),
                                     1,
                                     std::nextafter(1.0, 2.0),
                                     std::nextafter(Limits::max(), 0),
                                     Limits::max()};
    Data<> data = random_data(19, {60, 120, 3, static_cast<std::uint32_t>(values.size())});
    for (double& x : data.x) x = values[static_cast<std::size_t>(x + 2)];
    TrainParams params = default_params(data);
    params.risk = Risk::PN;
    params.masses = {0.5, 0.5, 0.5};
    params.n_trees = 20;
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        params.thresholds = mode;
        const auto trees = check_trees(data, params, nullptr);
        const auto is_high = [](const Tree& tree) { return tree.threshold[0] > 2; };
        if (mode == Thresholds::Random) CHECK(std::any_of(trees.begin(), trees.end(), is_high));
    }
}

}  // namespace
}  // namespace puforest::testing
