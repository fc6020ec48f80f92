#include "puforest/predict.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "puforest/sampling.hpp"
#include "puforest/tree.hpp"

namespace puforest {
namespace {

// Rows are answered in blocks, tree by tree: a tree stays in cache for a whole block.
constexpr std::size_t kBlock = 256;

// Calls of less work than this are answered by the calling thread alone.
constexpr std::size_t kSmallWork = 20'000;

void for_each_block(std::size_t n_rows, std::size_t n_trees, unsigned n_threads, const Poll& poll,
                    const std::function<void(std::size_t, std::size_t)>& use) {
    if (n_rows * n_trees <= kSmallWork) {
        use(0, n_rows);
        return;
    }
    const std::size_t n_blocks = (n_rows + kBlock - 1) / kBlock;
    run_tasks(
        n_blocks, n_threads,
        [&](std::size_t b, const StopFlag&) {
            use(b * kBlock, std::min((b + 1) * kBlock, n_rows));
        },
        poll);
}

}  // namespace

Predictor::Predictor(const ForestArrays& forest, std::uint32_t n_features)
    : n_features_(n_features), node_(forest.feature.size()) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    const std::size_t n = node_.size();
    require(forest.threshold.size() == n && forest.left.size() == n && forest.value.size() == n,
            "the arrays of the model differ in length");
    require(forest.offset.size() > 1 && forest.offset.front() == 0 &&
                forest.offset.back() == static_cast<std::int64_t>(n),
            "the trees of the model do not cover its nodes");
    for (std::size_t t = 0; t + 1 < forest.offset.size(); ++t) {
        const std::int64_t size = forest.offset[t + 1] - forest.offset[t];
        require(size > 0 && size <= std::numeric_limits<NodeId>::max() &&
                    forest.offset[t + 1] <= static_cast<std::int64_t>(n),
                "a tree of the model has no nodes or too many");
        const auto first = static_cast<std::size_t>(forest.offset[t]);
        root_.push_back(first);
        for (NodeId i = 0; i < size; ++i) {
            const std::size_t k = first + static_cast<std::size_t>(i);
            const std::int32_t feature = forest.feature[k];
            if (feature == Tree::kLeaf) {
                node_[k] = {forest.value[k], feature, Tree::kLeaf};
                continue;
            }
            require(feature >= 0 && static_cast<std::uint32_t>(feature) < n_features,
                    "a node of the model splits on a feature that does not exist");
            // Children behind their parents: no walk from the root can return to a node.
            require(forest.left[k] > i && forest.left[k] < size - 1,
                    "a node of the model has children outside its tree");
            node_[k] = {forest.threshold[k], feature, forest.left[k]};
        }
    }
}

template <class Real>
NodeId Predictor::leaf_of(std::size_t tree, const Matrix<Real>& x, std::size_t row) const {
    const Node* const nodes = node_.data() + root_[tree];
    NodeId i = 0;
    while (nodes[i].feature != Tree::kLeaf) {
        const double value = x.at(row, static_cast<std::size_t>(nodes[i].feature));
        i = nodes[i].left + !(value <= nodes[i].threshold);
    }
    return i;
}

template <class Real>
void Predictor::mean(const Matrix<Real>& x, double* out, unsigned n_threads,
                     const Poll& poll) const {
    for_each_block(x.rows, n_trees(), n_threads, poll, [&](std::size_t first, std::size_t last) {
        std::fill(out + first, out + last, 0.0);
        for (std::size_t t = 0; t < n_trees(); ++t) {
            const Node* const nodes = node_.data() + root_[t];
            for (std::size_t i = first; i < last; ++i) out[i] += nodes[leaf_of(t, x, i)].threshold;
        }
        for (std::size_t i = first; i < last; ++i) out[i] /= static_cast<double>(n_trees());
    });
}

template <class Real>
void Predictor::leaves(const Matrix<Real>& x, std::int32_t* out, unsigned n_threads,
                       const Poll& poll) const {
    for_each_block(x.rows, n_trees(), n_threads, poll, [&](std::size_t first, std::size_t last) {
        for (std::size_t t = 0; t < n_trees(); ++t) {
            for (std::size_t i = first; i < last; ++i) out[i * n_trees() + t] = leaf_of(t, x, i);
        }
    });
}

template <class Real>
void Predictor::mean_held_out(const Matrix<Real>& x, std::span<const Row> order,
                              std::uint32_t n_labelled, const TrainParams& params, double* out,
                              const Poll& poll) const {
    const auto n_rows = static_cast<std::uint32_t>(order.size());
    std::vector<std::vector<bool>> seen(n_trees(), std::vector<bool>(n_rows));
    run_tasks(
        n_trees(), params.n_threads,
        [&](std::size_t t, const StopFlag&) {
            const Sample sample =
                draw_sample(params.sampling, tree_key(params.seed, t), n_labelled, n_rows);
            for (const Row row : sample.rows) seen[t][row] = true;
        },
        poll);
    for_each_block(
        n_rows, n_trees(), params.n_threads, poll, [&](std::size_t first, std::size_t last) {
            std::vector<double> sum(last - first);
            std::vector<std::uint32_t> count(last - first);
            for (std::size_t t = 0; t < n_trees(); ++t) {
                const Node* const nodes = node_.data() + root_[t];
                for (std::size_t i = first; i < last; ++i) {
                    if (seen[t][i]) continue;
                    sum[i - first] += nodes[leaf_of(t, x, order[i])].threshold;
                    ++count[i - first];
                }
            }
            for (std::size_t i = first; i < last; ++i) {
                const std::uint32_t n = count[i - first];
                out[order[i]] = n ? sum[i - first] / n : std::numeric_limits<double>::quiet_NaN();
            }
        });
}

#define PUFOREST_INSTANTIATE(Real)                                                             \
    template void Predictor::mean(const Matrix<Real>&, double*, unsigned, const Poll&) const;  \
    template void Predictor::leaves(const Matrix<Real>&, std::int32_t*, unsigned, const Poll&) \
        const;                                                                                 \
    template void Predictor::mean_held_out(const Matrix<Real>&, std::span<const Row>,          \
                                           std::uint32_t, const TrainParams&, double*,         \
                                           const Poll&) const;
PUFOREST_INSTANTIATE(float)
PUFOREST_INSTANTIATE(double)
#undef PUFOREST_INSTANTIATE

}  // namespace puforest
