#include "puforest/train.hpp"

#include <stdexcept>

#include "grow.hpp"
#include "puforest/columns.hpp"

namespace puforest {
namespace {

// The codes are freed on return; only then are trees unpacked, which takes more memory.
template <class Stats, class Real>
std::vector<PackedTree<Stats>> grow(const Matrix<Real>& x, std::span<const Row> order,
                                    std::uint32_t n_labeled, const RowWeights& weights,
                                    const TrainParams& params, const Poll& poll) {
    const Poll poll_before_trees = [&](std::size_t, std::size_t) {
        if (poll) poll(0, params.n_trees);
    };
    const Columns columns = encode(x, order, n_labeled, params.n_threads, poll_before_trees);
    const bool distinct = !params.sampling.replace && !params.sampling.together;
    WorksetPool pool(columns, weights, distinct, params.n_threads);
    const Growth growth{columns, pool, params};
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

template <class Real>
std::vector<Tree> train(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labeled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll) {
    if (x.cols == 0) throw std::invalid_argument("X has no columns");
    if (x.cols > kMaxColumns) throw std::invalid_argument("too many columns: at most 2^29 - 1");
    check_rows(order, n_labeled, x.rows, params.sampling);
    return weights.uniform() ? unpack(grow<Counts>(x, order, n_labeled, weights, params, poll))
                             : unpack(grow<Sums>(x, order, n_labeled, weights, params, poll));
}

template std::vector<Tree> train(const Matrix<float>&, std::span<const Row>, std::uint32_t,
                                 const RowWeights&, const TrainParams&, const Poll&);
template std::vector<Tree> train(const Matrix<double>&, std::span<const Row>, std::uint32_t,
                                 const RowWeights&, const TrainParams&, const Poll&);

}  // namespace puforest
