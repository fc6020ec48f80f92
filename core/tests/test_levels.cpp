// Growth level by level, from statistics of parts of the rows.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/levels.hpp"
#include "puforest/parts.hpp"
#include "puforest/train.hpp"

namespace puforest::testing {
namespace {

std::int32_t leaf_of(const Tree& tree, const Matrix<double>& x, std::size_t row) {
    NodeId i = 0;
    for (;;) {
        const auto k = static_cast<std::size_t>(i);
        if (tree.feature[k] == kLeaf) return i;
        const double v = x.at(row, static_cast<std::size_t>(tree.feature[k]));
        bool left = v <= tree.threshold[k];
        if (tree.n_categories[k] > 0) {
            const auto list = listed(tree, i);
            const bool is_listed = std::ranges::find(list, v) != list.end();
            left = is_listed != (tree.missing_left[k] != 0);
        } else if (v != v) {
            left = tree.missing_left[k] != 0;
        }
        i = tree.left[k] + (left ? 0 : 1);
    }
}

// Statistics of all rows as one part.
Answer<VectorOf> answer(const Table& table, const LevelGrowth& growth, const TrainParams& params) {
    const Request request = growth.request();
    const std::vector<Tree> trees = growth.trees();
    std::vector<std::uint8_t> labeled(table.order.size());
    std::fill_n(labeled.begin(), table.n_labeled, std::uint8_t{1});
    std::vector<double> x;
    for (const Row row : table.order) {
        const auto first = table.x.begin() + static_cast<std::ptrdiff_t>(row * table.cols);
        x.insert(x.end(), first, first + static_cast<std::ptrdiff_t>(table.cols));
    }
    const Matrix<double> rows{x.data(), table.order.size(), table.cols,
                              static_cast<std::ptrdiff_t>(table.cols), 1};
    std::vector<std::int64_t> offset{0};
    for (const Tree& tree : trees) offset.push_back(offset.back() + tree.size());
    std::vector<std::int32_t> node_at(static_cast<std::size_t>(offset.back()), -1);
    for (std::size_t i = 0; i < request.node.size(); ++i) {
        node_at[static_cast<std::size_t>(offset[request.tree[i]] + request.node[i])] =
            static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> leaves;
    for (std::size_t i = 0; i < rows.rows; ++i) {
        for (const Tree& tree : trees) leaves.push_back(leaf_of(tree, rows, i));
    }
    return scan_part(
        rows, labeled, leaves,
        {offset, node_at, request.range_begin, request.range_feature, request.count_begin,
         request.count_feature, request.count_threshold, counted_by_value(params, table.cols)});
}

Answer<SpanOf> view(const Answer<VectorOf>& a) {
    return {a.low, a.high, a.missing, a.left, a.bin_range, a.bin_value, a.bin_rows};
}

// Whether two trees have the same nodes, in any order.
bool same_nodes(const Tree& a, const Tree& b, NodeId i = 0, NodeId j = 0) {
    const auto at = [](NodeId k) { return static_cast<std::size_t>(k); };
    if (a.feature[at(i)] != b.feature[at(j)] || a.threshold[at(i)] != b.threshold[at(j)] ||
        a.missing_left[at(i)] != b.missing_left[at(j)] || a.w_p[at(i)] != b.w_p[at(j)] ||
        a.w_u[at(i)] != b.w_u[at(j)] || a.n_labeled[at(i)] != b.n_labeled[at(j)] ||
        !std::ranges::equal(listed(a, i), listed(b, j))) {
        return false;
    }
    if (a.feature[at(i)] == kLeaf) return true;
    const NodeId left = a.left[at(i)];
    const NodeId other = b.left[at(j)];
    return same_nodes(a, b, left, other) && same_nodes(a, b, left + 1, other + 1);
}

TEST(levels_grow_the_same_trees) {
    const Table table = random_table(1, {60, 200, 8, 5});
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        for (const Risk risk : {Risk::uPU, Risk::nnPU}) {
            TrainParams params = table_params(table);
            params.thresholds = mode;
            params.risk = risk;
            params.n_thresholds = 2;
            params.increasing_features = {0};
            const std::vector<Tree> expected = fit(table, params);
            LevelGrowth growth(params, table.cols, {table.n_labeled, table.n_unlabeled()}, 0);
            while (growth.n_open() > 0) growth.advance(view(answer(table, growth, params)));
            const std::vector<Tree> trees = growth.trees();
            CHECK(growth.handed_over().empty());
            CHECK(trees.size() == expected.size());
            for (std::size_t t = 0; t < trees.size(); ++t) {
                CHECK(trees[t].size() == expected[t].size());
                CHECK(same_nodes(trees[t], expected[t]));
            }
        }
    }
}

TEST(a_root_can_be_handed_over) {
    const Table table = random_table(2, {60, 200, 8, 5});
    const TrainParams params = table_params(table);
    const LevelGrowth growth(params, table.cols, {table.n_labeled, table.n_unlabeled()}, 1000);
    CHECK(growth.n_open() == 0);
    CHECK(growth.handed_over().size() == params.n_trees);
    const std::vector<Subtree> root{growth.handed_over()[1].subtree};
    const std::vector<Tree> grown =
        train_subtrees(table.matrix(), table.fit_rows(), root, growth.factors(), params, {});
    CHECK(grown.at(0) == fit(table, params).at(1));
}

TEST(levels_check_answers_and_rows) {
    const Table table = random_table(3);
    TrainParams params = table_params(table);
    const Counts total{table.n_labeled, table.n_unlabeled()};
    LevelGrowth growth(params, table.cols, total, 0);
    Answer<VectorOf> wrong = answer(table, growth, params);
    wrong.low.pop_back();
    CHECK_THROWS(std::invalid_argument, growth.advance(view(wrong)));
    std::vector<Subtree> subtrees{{0, 0, {}, total, {0}}, {0, 0, {}, {1, 0}, {0}}};
    CHECK_THROWS(std::invalid_argument, train_subtrees(table.matrix(), table.fit_rows(), subtrees,
                                                       growth.factors(), params, {}));
    params.max_leaf_nodes = 5;
    CHECK_THROWS(std::invalid_argument, LevelGrowth(params, table.cols, total, 0));
}

}  // namespace
}  // namespace puforest::testing
