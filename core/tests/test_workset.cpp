#include <cmath>
#include <vector>

#include "check.hpp"
#include "column_checks.hpp"
#include "helpers.hpp"
#include "puforest/workset.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

// Columns of zero, one, two and four bytes per code, more than a tile of each width. Every fourth
// column of those with few values is categorical, and every third has missing values, as have nine
// columns of 256 values.
Table mixed_data(std::uint32_t n_labeled, std::uint32_t n_unlabeled) {
    constexpr std::size_t kCols = 54;
    Rng rng(29);
    Table data{random_data(30, {n_labeled, n_unlabeled, kCols, 0}), {}};
    for (std::size_t k = 0; k < data.x.size(); ++k) {
        const std::size_t column = k % kCols;
        if (column == 3) data.x[k] = 1;
        if (column > 3 && column < 30) data.x[k] = std::round(30 * data.x[k]);
        if (column >= 30 && column < 40) data.x[k] = std::round(5000 * data.x[k]);
        if (column >= 45) data.x[k] = static_cast<double>(rng.below(256));
        if ((column % 3 == 2 || column >= 45) && rng.below(8) == 0) data.x[k] = std::nan("");
    }
    for (FeatureId j = 4; j < 30; j += 4) data.categorical.push_back(j);
    return data;
}

// Every k-th row of a group, from `first` up to `last`.
std::vector<Row> every(std::size_t k, std::size_t first, std::size_t last) {
    std::vector<Row> rows;
    for (std::size_t i = first; i < last; i += k) rows.push_back(static_cast<Row>(i));
    return rows;
}

// Check that the rows `original` are in `set` at the positions `rows`, with codes and weights.
void check_copy(const Workset& set, const Columns& columns, const Weights& weights,
                const NodeRows& rows, const std::vector<Row>& original) {
    CHECK(set.distinct());
    std::size_t i = 0;
    const auto check_group = [&](std::span<const Row> group, std::size_t begin, std::size_t end) {
        for (std::size_t k = 0; k < group.size(); ++k, ++i) {
            CHECK(group[k] >= begin && group[k] < end);
            CHECK(k == 0 || group[k] > group[k - 1]);
            CHECK(set.weights().sample[group[k]] == weights.sample[original[i]]);
            for (FeatureId j = 0; j < columns.column.size(); ++j) {
                if (!columns.column[j].varies()) continue;
                const Column& column = columns.column[j];
                const Code expected = column.visit(
                    by_position, [&](auto codes) -> Code { return codes[original[i]]; });
                CHECK(expected ==
                      set.visit(j, [&](auto codes) -> Code { return codes[group[k]]; }));
            }
        }
    };
    check_group(rows.labeled, 0, set.unlabeled_begin());
    for (std::size_t k = 0; k < rows.labeled.size(); ++k) {
        CHECK(set.weights().positive[rows.labeled[k]] == weights.positive[original[k]]);
    }
    check_group(rows.unlabeled, set.unlabeled_begin(), set.extent());
}

TEST(workset_copies_have_the_codes_of_their_rows) {
    const Table data = mixed_data(500, 70'000);
    const Columns columns = encode(data.matrix(), {data.order, data.n_labeled}, {}, 1, Poll{});
    const Weights weights = random_weights(data, 31);
    const Workset all(columns, weights.view(), true);
    CHECK(all.worth_copying(2000) && !all.worth_copying(60'000) && !all.worth_copying(2));
    Workset first(columns, weights.view(), true);
    Workset second(columns, weights.view(), true);
    // Large, small, with an empty group, and large again: memory is reused.
    for (const std::size_t step : {20, 600, 21, 100'000, 9}) {
        std::vector<Row> labeled = every(step, 3, data.n_labeled);
        std::vector<Row> unlabeled = every(step, data.n_labeled, data.order.size());
        if (step == 600) labeled.clear();
        std::vector<Row> original = labeled;
        original.insert(original.end(), unlabeled.begin(), unlabeled.end());
        first.copy(all, {labeled, unlabeled});
        check_copy(first, columns, weights, {labeled, unlabeled}, original);

        // Copy every other row of the copy.
        std::vector<Row> some_l;
        std::vector<Row> some_u;
        std::vector<Row> some_original;
        for (std::size_t i = 0; i < labeled.size(); i += 2) {
            some_l.push_back(labeled[i]);
            some_original.push_back(original[i]);
        }
        for (std::size_t i = 0; i < unlabeled.size(); i += 2) {
            some_u.push_back(unlabeled[i]);
            some_original.push_back(original[labeled.size() + i]);
        }
        second.copy(first, {some_l, some_u});
        check_copy(second, columns, weights, {some_l, some_u}, some_original);
    }
}

TEST(workset_without_unlabeled_rows) {
    const Table data = mixed_data(3000, 300);
    const Columns columns = encode(data.matrix(), {data.order, data.n_labeled}, {}, 1, Poll{});
    const Weights weights = random_weights(data, 32);
    const Workset all(columns, weights.view(), true);
    Workset set(columns, weights.view(), true);
    std::vector<Row> labeled = every(10, 0, data.n_labeled);
    const std::vector<Row> original = labeled;
    set.copy(all, {labeled, {}});
    check_copy(set, columns, weights, {labeled, {}}, original);
}

// Best-first growth always reads from all rows, depth-first growth from nested copies: the splits
// must be the same.
TEST(workset_copies_do_not_change_the_trees) {
    const Table data = mixed_data(3000, 30'000);
    const Weights weights = random_weights(data, 33);
    const std::vector<Sampling> samplings{
        all_rows(data),
        {false, false, 400, 25'000},                        // some rows of each group
        {true, false, data.n_labeled, data.n_unlabeled()},  // duplicate rows
        {true, true, 0, 0},
    };
    for (const Sampling& sampling : samplings) {
        for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
            for (const bool weighted : {false, true}) {
                TrainParams params = table_params(data);
                params.risk = Risk::PN;
                params.masses = {0.3, 0.3, 0.7};
                params.thresholds = mode;
                params.sampling = sampling;
                params.n_trees = 1;
                params.max_depth = 14;
                params.max_features = 7;
                const RowWeights view = weighted ? weights.view() : RowWeights{};
                const auto deep = splits_by_path(fit(data, params, view)[0]);
                params.max_leaf_nodes = 1'000'000;
                CHECK(deep == splits_by_path(fit(data, params, view)[0]));
                CHECK(deep.size() > 100);
            }
        }
    }
}

}  // namespace
}  // namespace puforest::testing
