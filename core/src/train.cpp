#include "puforest/train.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "grow.hpp"
#include "puforest/columns.hpp"

namespace puforest {
namespace {

std::vector<FeatureId> all_features(const Columns& columns) {
    std::vector<FeatureId> features(columns.column.size());
    std::iota(features.begin(), features.end(), FeatureId{0});
    return features;
}

// `codes()` returns Columns or a reference to them. Returned Columns are freed with this function;
// only then are trees unpacked, which takes more memory.
template <class Stats, class Codes>
std::vector<PackedTree<Stats>> grow(const Codes& codes, const FitRows& rows,
                                    const RowWeights& weights, const TrainParams& params,
                                    const Poll& poll) {
    const Columns& columns = codes();
    const bool distinct = !params.sampling.replace && !params.sampling.together;
    WorksetPool pool(columns, weights, distinct, params.n_threads);
    const Monotone monotone(params, columns.column.size());
    const Growth growth{columns, rows, pool, monotone, params};
    std::vector<PackedTree<Stats>> trees(params.n_trees);
    run_tasks(
        params.n_trees, params.n_threads,
        [&](std::size_t i, const StopFlag& stop) {
            const auto tree = params.first_tree + static_cast<std::uint32_t>(i);
            trees[i] = grow_tree<Stats>(growth,
                                        {derive(tree_key(params.seed, tree), kLeft),
                                         all_features(columns), draw_sample(params, tree, rows)},
                                        stop);
        },
        poll);
    return trees;
}

template <class Stats>
std::vector<Tree> unpack(std::vector<PackedTree<Stats>> packed) {
    std::vector<Tree> trees;
    for (PackedTree<Stats>& tree : packed) {
        trees.push_back(tree.unpack());
        tree = {};
    }
    return trees;
}

template <class Codes>
std::vector<Tree> train_on(const Codes& codes, const FitRows& rows, const RowWeights& weights,
                           const TrainParams& params, const Poll& poll) {
    check_sampling(rows, params.sampling);
    if (weights.uniform()) return unpack(grow<Counts>(codes, rows, weights, params, poll));
    return weights.checked ? unpack(grow<CheckedSums>(codes, rows, weights, params, poll))
                           : unpack(grow<Sums>(codes, rows, weights, params, poll));
}

}  // namespace

template <class Table>
std::vector<Tree> train(const Table& x, const FitRows& rows, const RowWeights& weights,
                        const TrainParams& params, const Poll& poll) {
    const Poll poll_before_trees = [&](std::size_t, std::size_t) {
        if (poll) poll(0, params.n_trees);
    };
    const auto codes = [&] {
        return encode(x, rows, params.categorical_features, params.n_threads, poll_before_trees);
    };
    return train_on(codes, rows, weights, params, poll);
}

std::vector<Tree> train(const Columns& columns, const FitRows& rows, const RowWeights& weights,
                        const TrainParams& params, const Poll& poll) {
    if (rows.order.size() != columns.n_rows || rows.n_labeled != columns.n_labeled) {
        throw std::invalid_argument("the rows are not those that were encoded");
    }
    const auto codes = [&]() -> const Columns& { return columns; };
    return train_on(codes, rows, weights, params, poll);
}

template <class Table>
std::vector<Tree> train_subtrees(const Table& x, const FitRows& rows,
                                 std::span<const Subtree> subtrees, const MassFactors& factors,
                                 const TrainParams& params, const Poll& poll) {
    const Columns columns = encode(x, rows, params.categorical_features, params.n_threads,
                                   [&](std::size_t, std::size_t) {
                                       if (poll) poll(0, subtrees.size());
                                   });
    WorksetPool pool(columns, {}, true, params.n_threads);
    const Monotone monotone(params, columns.column.size());
    const Growth growth{columns, rows, pool, monotone, params};
    std::vector<Sample> samples;
    Row labeled = 0;
    Row unlabeled = rows.n_labeled;
    for (const Subtree& subtree : subtrees) {
        const auto [n_labeled, n_unlabeled] = subtree.total;
        if (n_labeled > rows.n_labeled - labeled || n_unlabeled > rows.size() - unlabeled) {
            throw std::invalid_argument("subtrees have more rows than there are");
        }
        Sample& sample = samples.emplace_back(std::vector<Row>(n_labeled + n_unlabeled), n_labeled);
        const auto middle = sample.rows.begin() + n_labeled;
        std::iota(sample.rows.begin(), middle, std::exchange(labeled, labeled + n_labeled));
        std::iota(middle, sample.rows.end(), std::exchange(unlabeled, unlabeled + n_unlabeled));
    }
    std::vector<Tree> trees(subtrees.size());
    run_tasks(
        subtrees.size(), params.n_threads,
        [&](std::size_t i, const StopFlag& stop) {
            const Subtree& subtree = subtrees[i];
            Start start{subtree.key,   subtree.features, std::move(samples[i]),
                        subtree.depth, subtree.bounds,   factors};
            trees[i] = grow_tree<Counts>(growth, std::move(start), stop).unpack();
        },
        poll);
    return trees;
}

#define PUFOREST_TRAIN(Table)                                                               \
    template std::vector<Tree> train(const Table&, const FitRows&, const RowWeights&,       \
                                     const TrainParams&, const Poll&);                      \
    template std::vector<Tree> train_subtrees(const Table&, const FitRows&,                 \
                                              std::span<const Subtree>, const MassFactors&, \
                                              const TrainParams&, const Poll&);
PUFOREST_TRAIN(Matrix<float>)
PUFOREST_TRAIN(Matrix<double>)
PUFOREST_TRAIN(SparseMatrix<float>)
PUFOREST_TRAIN(SparseMatrix<double>)
#undef PUFOREST_TRAIN

}  // namespace puforest
