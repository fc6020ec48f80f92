#include "puforest/train.hpp"

#include <stdexcept>

#include "grow.hpp"
#include "puforest/columns.hpp"

namespace puforest {
namespace {

// The codes are freed on return; only then are trees unpacked, which takes more memory.
template <class Stats, class Table>
std::vector<PackedTree<Stats>> grow(const Table& x, const EncodedRows& rows,
                                    const RowWeights& weights, const TrainParams& params,
                                    const Poll& poll) {
    const Poll poll_before_trees = [&](std::size_t, std::size_t) {
        if (poll) poll(0, params.n_trees);
    };
    const Columns columns =
        encode(x, rows, params.categorical_features, params.n_threads, poll_before_trees);
    const bool distinct = !params.sampling.replace && !params.sampling.together;
    WorksetPool pool(columns, weights, distinct, params.n_threads);
    const Monotone monotone(params, x.cols);
    const Growth growth{columns, pool, monotone, params};
    std::vector<PackedTree<Stats>> trees(params.n_trees);
    run_tasks(
        params.n_trees, params.n_threads,
        [&](std::size_t i, const StopFlag& stop) {
            const auto tree = params.first_tree + static_cast<std::uint32_t>(i);
            trees[i] = grow_tree<Stats>(growth, tree, stop);
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

}  // namespace

template <class Table>
std::vector<Tree> train(const Table& x, std::span<const Row> order, std::uint32_t n_labeled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll) {
    if (x.cols == 0) throw std::invalid_argument("X has no columns");
    if (x.cols > kMaxColumns) throw std::invalid_argument("too many columns: at most 2^29 - 1");
    check_rows(order, n_labeled, x.rows, params.sampling);
    const EncodedRows rows{order, n_labeled};
    return weights.uniform() ? unpack(grow<Counts>(x, rows, weights, params, poll))
                             : unpack(grow<Sums>(x, rows, weights, params, poll));
}

#define PUFOREST_TRAIN(Table)                                                           \
    template std::vector<Tree> train(const Table&, std::span<const Row>, std::uint32_t, \
                                     const RowWeights&, const TrainParams&, const Poll&);
PUFOREST_TRAIN(Matrix<float>)
PUFOREST_TRAIN(Matrix<double>)
PUFOREST_TRAIN(SparseMatrix<float>)
PUFOREST_TRAIN(SparseMatrix<double>)
#undef PUFOREST_TRAIN

}  // namespace puforest
