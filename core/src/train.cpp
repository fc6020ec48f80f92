#include "puforest/train.hpp"

#include <stdexcept>

#include "grow.hpp"
#include "puforest/columns.hpp"

namespace puforest {
template <class Real>
std::vector<Tree> train(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labelled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll) {
    if (x.cols == 0) throw std::invalid_argument("X has no columns");
    if (x.cols > kMaxColumns) throw std::invalid_argument("too many columns: at most 2^29 - 1");
    check_rows(order, n_labelled, x.rows, params.sampling);
    const Poll poll_before_trees = [&](std::size_t, std::size_t) {
        if (poll) poll(0, params.n_trees);
    };
    const Columns columns = encode(x, order, n_labelled, params.n_threads, poll_before_trees);
    std::vector<Tree> trees(params.n_trees);
    const bool distinct = !params.sampling.replace && !params.sampling.together;
    WorksetPool pool(columns, weights, distinct, params.n_threads);
    const Growth growth{columns, pool, params};
    run_tasks(
        params.n_trees, params.n_threads,
        [&](std::size_t i, const StopFlag& stop) {
            const auto tree = params.first_tree + static_cast<std::uint32_t>(i);
            trees[i] = weights.uniform() ? grow_tree<Counts>(growth, tree, stop)
                                         : grow_tree<Sums>(growth, tree, stop);
        },
        poll);
    return trees;
}

template std::vector<Tree> train(const Matrix<float>&, std::span<const Row>, std::uint32_t,
                                 const RowWeights&, const TrainParams&, const Poll&);
template std::vector<Tree> train(const Matrix<double>&, std::span<const Row>, std::uint32_t,
                                 const RowWeights&, const TrainParams&, const Poll&);

}  // namespace puforest
