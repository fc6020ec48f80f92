#include "puforest/predict.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "puforest/sampling.hpp"
#include "puforest/tree.hpp"

namespace puforest {
namespace {

// Rows are answered in blocks, tree by tree. A block is as many rows as fit half a usual
// second-level cache, within limits: a tree has to be read again for every block.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kFewestRows = 64;
constexpr std::size_t kMostRows = 1024;

// Calls of at most this many steps down a tree are answered by the calling thread alone, which
// is then deaf to interrupts: a few milliseconds.
constexpr std::size_t kSmallWork = 400'000;

// Consecutive numbers.
struct Range {
    std::size_t first;
    std::size_t last;

    std::size_t size() const { return last - first; }
    std::size_t operator[](std::size_t k) const { return first + k; }
};

void for_each_block(std::size_t n_rows, std::size_t block_rows, std::size_t steps_per_row,
                    unsigned n_threads, const Poll& poll,
                    const std::function<void(Range, const StopFlag&)>& use) {
    const std::size_t n_blocks = (n_rows + block_rows - 1) / block_rows;
    const auto use_block = [&](std::size_t b, const StopFlag& stop) {
        use({b * block_rows, std::min((b + 1) * block_rows, n_rows)}, stop);
    };
    if (n_rows * steps_per_row <= kSmallWork) {
        const StopFlag never{false};
        for (std::size_t b = 0; b < n_blocks; ++b) use_block(b, never);
        return;
    }
    run_tasks(n_blocks, n_threads, use_block, poll);
}

// The largest Real at most t: no Real lies between the two, so all compare with it as with t.
template <class Real>
Real rounded_down(double t) {
    const auto rounded = static_cast<Real>(t);
    return rounded > t ? std::nextafter(rounded, -std::numeric_limits<Real>::infinity()) : rounded;
}

}  // namespace

template <class Real>
Predictor<Real>::Predictor(const ForestArrays& forest, std::uint32_t n_features)
    : n_features_(n_features), value_(forest.value.begin(), forest.value.end()) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    const std::size_t n = forest.feature.size();
    require(n_features > 0, "a model has at least one feature");
    require(forest.threshold.size() == n && forest.left.size() == n && forest.value.size() == n,
            "the arrays of the model differ in length");
    require(forest.offset.size() > 1 && forest.offset.front() == 0 &&
                forest.offset.back() == static_cast<std::int64_t>(n),
            "the trees of the model do not cover its nodes");
    NodeId largest_left = 0;
    for (std::size_t t = 0; t + 1 < forest.offset.size(); ++t) {
        require(forest.offset[t] < forest.offset[t + 1] &&
                    forest.offset[t + 1] <= static_cast<std::int64_t>(n),
                "the trees of the model do not follow each other");
        const std::int64_t size = forest.offset[t + 1] - forest.offset[t];
        require(size <= std::numeric_limits<NodeId>::max(), "a tree of the model is too large");
        const auto first = static_cast<std::size_t>(forest.offset[t]);
        root_.push_back(first);
        std::vector<std::uint32_t> depth(static_cast<std::size_t>(size));
        for (NodeId i = 0; i < size; ++i) {
            const std::size_t k = first + static_cast<std::size_t>(i);
            const std::int32_t feature = forest.feature[k];
            if (feature == Tree::kLeaf) continue;
            require(feature >= 0 && static_cast<std::uint32_t>(feature) < n_features,
                    "a node of the model splits on a feature that does not exist");
            // Children behind their parents: no walk from the root can return to a node.
            require(forest.left[k] > i && forest.left[k] < size - 1,
                    "a node of the model has children outside its tree");
            largest_left = std::max(largest_left, forest.left[k]);
            const auto child = static_cast<std::size_t>(forest.left[k]);
            depth[child] = depth[child + 1] = depth[static_cast<std::size_t>(i)] + 1;
        }
        steps_per_row_ += *std::max_element(depth.begin(), depth.end());
    }

    left_bits_ = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(largest_left)));
    const auto feature_bits = static_cast<std::uint32_t>(std::bit_width(n_features));
    small_nodes_ = sizeof(Real) == 4 && left_bits_ + feature_bits <= 32 && left_bits_ < 32;
    if (small_nodes_) {
        pack<std::uint32_t>(forest);
    } else {
        pack<std::uint64_t>(forest);
    }
}

template <class Real>
template <class Word>
void Predictor<Real>::pack(const ForestArrays& forest) {
    const std::size_t n = forest.feature.size();
    nodes_ = allocate(n * sizeof(Node<Word>));
    auto* const nodes = reinterpret_cast<Node<Word>*>(nodes_.get());
    for (std::size_t k = 0; k < n; ++k) {
        if (forest.feature[k] == Tree::kLeaf) {
            nodes[k] = {0, 0};
        } else {
            nodes[k] = {rounded_down<Real>(forest.threshold[k]),
                        static_cast<Word>(forest.feature[k]) << left_bits_ |
                            static_cast<Word>(forest.left[k])};
        }
    }
}

template <class Real>
std::size_t Predictor<Real>::block_rows() const {
    return std::clamp(kBlockBytes / (n_features_ * sizeof(Real)), kFewestRows, kMostRows);
}

template <class Real>
template <class Rows, class Use>
void Predictor<Real>::for_each_leaf(std::size_t tree, const Matrix<Real>& x, const Rows& rows,
                                    const StopFlag& stop, Use&& use) const {
    if (small_nodes_) {
        walk<std::uint32_t>(tree, x, rows, stop, use);
    } else {
        walk<std::uint64_t>(tree, x, rows, stop, use);
    }
}

// A walk down a tree waits for memory at every step, so all rows of a block walk at once, one
// step each in turn: their waits overlap. Rows that have reached a leaf drop out.
template <class Real>
template <class Word, class Rows, class Use>
void Predictor<Real>::walk(std::size_t tree, const Matrix<Real>& x, const Rows& rows,
                           const StopFlag& stop, Use&& use) const {
    const auto* const nodes = reinterpret_cast<const Node<Word>*>(nodes_.get()) + root_[tree];
    const Word left_mask = (Word{1} << left_bits_) - 1;
    std::array<std::uint32_t, kMostRows> at{};
    std::array<std::uint16_t, kMostRows> walking;
    std::size_t n_walking = rows.size();
    for (std::size_t k = 0; k < n_walking; ++k) walking[k] = static_cast<std::uint16_t>(k);
    while (n_walking > 0 && !stop.load(std::memory_order_relaxed)) {
        std::size_t still_walking = 0;
        for (std::size_t w = 0; w < n_walking; ++w) {
            const std::size_t k = walking[w];
            const Node<Word> node = nodes[at[k]];
            const auto left = static_cast<std::uint32_t>(node.split & left_mask);
            const Real value = x.at(rows[k], static_cast<std::size_t>(node.split >> left_bits_));
            const std::uint32_t next = left + !(value <= node.threshold);
            at[k] = left != 0 ? next : at[k];
            walking[still_walking] = static_cast<std::uint16_t>(k);
            still_walking += left != 0;
        }
        n_walking = still_walking;
    }
    for (std::size_t k = 0; k < rows.size(); ++k) use(k, static_cast<NodeId>(at[k]));
}

template <class Real>
void Predictor<Real>::mean(const Matrix<Real>& x, double* out, unsigned n_threads,
                           const Poll& poll) const {
    for_each_block(x.rows, block_rows(), steps_per_row_, n_threads, poll,
                   [&](Range rows, const StopFlag& stop) {
                       std::array<double, kMostRows> sum{};
                       for (std::size_t t = 0; t < n_trees(); ++t) {
                           const double* const value = value_.data() + root_[t];
                           for_each_leaf(t, x, rows, stop, [&](std::size_t k, NodeId leaf) {
                               sum[k] += value[leaf];
                           });
                       }
                       for (std::size_t k = 0; k < rows.size(); ++k) {
                           out[rows[k]] = sum[k] / static_cast<double>(n_trees());
                       }
                   });
}

template <class Real>
void Predictor<Real>::leaves(const Matrix<Real>& x, std::int32_t* out, unsigned n_threads,
                             const Poll& poll) const {
    for_each_block(x.rows, block_rows(), steps_per_row_, n_threads, poll,
                   [&](Range rows, const StopFlag& stop) {
                       for (std::size_t t = 0; t < n_trees(); ++t) {
                           for_each_leaf(t, x, rows, stop, [&](std::size_t k, NodeId leaf) {
                               out[rows[k] * n_trees() + t] = leaf;
                           });
                       }
                   });
}

template <class Real>
void Predictor<Real>::mean_held_out(const Matrix<Real>& x, std::span<const Row> order,
                                    std::uint32_t n_labelled, const TrainParams& params,
                                    double* out, const Poll& poll) const {
    check_rows(order, n_labelled, x.rows, params.sampling);
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
    for_each_block(n_rows, block_rows(), steps_per_row_, params.n_threads, poll,
                   [&](Range block, const StopFlag& stop) {
                       std::array<double, kMostRows> sum{};
                       std::array<std::uint32_t, kMostRows> count{};
                       std::vector<Row> rows;              // held out of tree t
                       std::vector<std::size_t> in_block;  // and their positions in the block
                       for (std::size_t t = 0; t < n_trees(); ++t) {
                           const double* const value = value_.data() + root_[t];
                           rows.clear();
                           in_block.clear();
                           for (std::size_t k = 0; k < block.size(); ++k) {
                               if (seen[t][block[k]]) continue;
                               rows.push_back(order[block[k]]);
                               in_block.push_back(k);
                           }
                           for_each_leaf(t, x, rows, stop, [&](std::size_t k, NodeId leaf) {
                               sum[in_block[k]] += value[leaf];
                               ++count[in_block[k]];
                           });
                       }
                       for (std::size_t k = 0; k < block.size(); ++k) {
                           out[order[block[k]]] = count[k]
                                                      ? sum[k] / count[k]
                                                      : std::numeric_limits<double>::quiet_NaN();
                       }
                   });
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace puforest
