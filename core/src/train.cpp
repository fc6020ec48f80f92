#include "puforest/train.hpp"

#include <algorithm>
#include <stdexcept>

#include "grow.hpp"
#include "puforest/columns.hpp"

namespace puforest {
namespace {

template <class Real>
void check(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labelled,
           const TrainParams& params) {
    if (x.cols == 0) throw std::invalid_argument("X has no columns");
    if (order.size() > kMaxRows) throw std::invalid_argument("too many rows: at most 2^30 - 1");
    if (n_labelled == 0 || n_labelled >= order.size()) {
        throw std::invalid_argument("both labelled and unlabelled rows are needed");
    }
    if (std::any_of(order.begin(), order.end(), [&](Row row) { return row >= x.rows; })) {
        throw std::invalid_argument("a row index lies outside X");
    }
    const Sampling& s = params.sampling;
    const std::size_t n_unlabelled = order.size() - n_labelled;
    if (!s.together && (s.labelled == 0 || s.unlabelled == 0)) {
        throw std::invalid_argument("a tree needs rows of both groups");
    }
    if (!s.replace && (s.labelled > n_labelled || s.unlabelled > n_unlabelled)) {
        throw std::invalid_argument("more rows to draw than there are");
    }
}

}  // namespace

template <class Real>
std::vector<Tree> train(const Matrix<Real>& x, std::span<const Row> order, std::uint32_t n_labelled,
                        const RowWeights& weights, const TrainParams& params, const Poll& poll) {
    check(x, order, n_labelled, params);
    const Poll poll_before_trees = [&](std::size_t, std::size_t) {
        if (poll) poll(0, params.n_trees);
    };
    const Columns columns = encode(x, order, n_labelled, params.n_threads, poll_before_trees);
    std::vector<Tree> trees(params.n_trees);
    const Growth growth{columns, weights, params};
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
