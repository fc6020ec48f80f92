#include "puforest/predict.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "puforest/sampling.hpp"

namespace puforest {
namespace {

// Rows are processed in blocks, tree by tree: trees are read once per block, and the rows of a
// block once per tree.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kAhead = 16;  // walks whose values of X are prefetched together
constexpr std::size_t kFewestRows = 32;
constexpr std::size_t kMostRows = 1024;

// Calls of at most this many steps down trees run on the calling thread alone and cannot be
// interrupted: a few milliseconds.
constexpr std::size_t kSmallWork = 400'000;

// Consecutive indices.
struct Range {
    std::size_t first;
    std::size_t last;

    std::size_t size() const { return last - first; }
    std::size_t operator[](std::size_t k) const { return first + k; }
};

// Pass all rows of a block through every tree.
auto all_of(Range rows) {
    return [rows](std::size_t, const auto& add) {
        for (std::size_t k = 0; k < rows.size(); ++k) add(k, rows[k]);
    };
}

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

// The largest Real that is at most t. No Real lies between the two, so every Real compares with it
// as with t.
template <class Real>
Real rounded_down(double t) {
    const auto rounded = static_cast<Real>(t);
    return rounded > t ? std::nextafter(rounded, -std::numeric_limits<Real>::infinity()) : rounded;
}

}  // namespace

template <class Real>
Predictor<Real>::Predictor(const ForestArrays& forest, std::uint32_t n_features)
    : n_features_(n_features) {
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
    NodeId longest_step = 0;
    for (std::size_t t = 0; t + 1 < forest.offset.size(); ++t) {
        require(forest.offset[t] < forest.offset[t + 1] &&
                    forest.offset[t + 1] <= static_cast<std::int64_t>(n),
                "the trees of the model do not follow each other");
        const std::int64_t size = forest.offset[t + 1] - forest.offset[t];
        require(size <= std::numeric_limits<NodeId>::max(), "a tree of the model is too large");
        const auto first = static_cast<std::size_t>(forest.offset[t]);
        root_.push_back(first);
        root_is_leaf_.push_back(forest.feature[first] == kLeaf);
        std::vector<std::uint32_t> depth(static_cast<std::size_t>(size));
        for (NodeId i = 0; i < size; ++i) {
            const std::size_t k = first + static_cast<std::size_t>(i);
            const std::int32_t feature = forest.feature[k];
            if (feature == kLeaf) continue;
            require(feature >= 0 && static_cast<std::uint32_t>(feature) < n_features,
                    "a node of the model splits on a feature that does not exist");
            // Children come after their parents, so that no walk can return to a node.
            require(forest.left[k] > i && forest.left[k] < size - 1,
                    "a node of the model has children outside its tree");
            longest_step = std::max(longest_step, forest.left[k] - i);
            const auto child = static_cast<std::size_t>(forest.left[k]);
            depth[child] = depth[child + 1] = depth[static_cast<std::size_t>(i)] + 1;
        }
        steps_per_row_ += *std::max_element(depth.begin(), depth.end());
    }

    step_bits_ = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(longest_step)));
    const auto feature_bits = static_cast<std::uint32_t>(std::bit_width(n_features));
    small_nodes_ = sizeof(Real) == 4 && 2 + step_bits_ + feature_bits <= 32;
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
    const auto is_leaf = [&](std::size_t k) { return forest.feature[k] == kLeaf; };
    for (std::size_t t = 0; t < root_.size(); ++t) {
        const std::size_t end = t + 1 < root_.size() ? root_[t + 1] : n;
        for (std::size_t k = root_[t]; k < end; ++k) {
            if (is_leaf(k)) {
                std::memcpy(&nodes[k], &forest.value[k], sizeof(double));
                continue;
            }
            const std::size_t left = root_[t] + static_cast<std::size_t>(forest.left[k]);
            const Word leaves = Word{is_leaf(left)} | Word{is_leaf(left + 1)} << 1;
            const auto feature = static_cast<Word>(forest.feature[k]);
            nodes[k] = {rounded_down<Real>(forest.threshold[k]),
                        feature << (2 + step_bits_) | static_cast<Word>(left - k) << 2 | leaves};
        }
    }
}

template <class Real>
std::size_t Predictor<Real>::block_rows() const {
    return std::clamp(kBlockBytes / (n_features_ * sizeof(Real)), kFewestRows, kMostRows);
}

template <class Real>
template <class Start, class Use>
void Predictor<Real>::for_each_leaf(const Matrix<Real>& x, const StopFlag& stop, Start&& start,
                                    Use&& use) const {
    const std::size_t at_once = kMostRows / block_rows();
    for (std::size_t t = 0; t < n_trees(); t += at_once) {
        const std::size_t last = std::min(t + at_once, n_trees());
        if (small_nodes_) {
            walk<std::uint32_t>(t, last, x, stop, start, use);
        } else {
            walk<std::uint64_t>(t, last, x, stop, start, use);
        }
    }
}

// A walk down a tree waits for memory at every step. Therefore many walks are interleaved, one step
// each in turn; each prefetches its next node a whole turn before it needs it, and its next value
// of X a few walks before. Walks that reach a leaf drop out.
template <class Real>
template <class Word, class Start, class Use>
void Predictor<Real>::walk(std::size_t first_tree, std::size_t last_tree, const Matrix<Real>& x,
                           const StopFlag& stop, Start& start, Use& use) const {
    struct Walk {
        const Real* row;
        const Node<Word>* at;
        std::size_t number;
    };
    struct End {
        std::uint32_t tree;
        std::uint32_t k;
        const Node<Word>* leaf;
    };
    const auto* const nodes = reinterpret_cast<const Node<Word>*>(nodes_.get());
    std::array<Walk, kMostRows> walks;
    std::array<End, kMostRows> ends;
    std::size_t n_walking = 0;
    std::size_t n_ends = 0;
    for (std::size_t t = first_tree; t < last_tree; ++t) {
        const Node<Word>* const root = nodes + root_[t];
        start(t, [&](std::size_t k, std::size_t row) {
            const Real* const cells = x.data + static_cast<std::ptrdiff_t>(row) * x.row_stride;
            if (!root_is_leaf_[t]) walks[n_walking++] = {cells, root, n_ends};
            ends[n_ends++] = {static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(k), root};
        });
    }

    const Word step_mask = (Word{1} << step_bits_) - 1;
    const std::uint32_t feature_shift = 2 + step_bits_;
    while (n_walking > 0 && !stop.load(std::memory_order_relaxed)) {
        std::size_t still_walking = 0;
        for (std::size_t begin = 0; begin < n_walking; begin += kAhead) {
            const std::size_t n = std::min(kAhead, n_walking - begin);
            const Walk* const some = walks.data() + begin;
            std::array<const Real*, kAhead> cell;
            for (std::size_t i = 0; i < n; ++i) {
                const auto feature =
                    static_cast<std::ptrdiff_t>(some[i].at->split >> feature_shift);
                cell[i] = some[i].row + feature * x.col_stride;
                __builtin_prefetch(cell[i]);
            }
            for (std::size_t i = 0; i < n; ++i) {
                const auto [row, at, number] = some[i];
                const std::size_t goes_right = !(*cell[i] <= at->threshold);
                const Word split = at->split;
                const Node<Word>* const next = at + (split >> 2 & step_mask) + goes_right;
                __builtin_prefetch(next);
                ends[number].leaf = next;
                walks[still_walking] = {row, next, number};
                still_walking += (split >> goes_right & 1) == 0;
            }
        }
        n_walking = still_walking;
    }

    for (const End& end : std::span(ends).first(n_ends)) {
        double value;
        std::memcpy(&value, end.leaf, sizeof(value));
        use(end.tree, end.k, static_cast<NodeId>(end.leaf - (nodes + root_[end.tree])), value);
    }
}

template <class Real>
void Predictor<Real>::mean(const Matrix<Real>& x, double* out, unsigned n_threads,
                           const Poll& poll) const {
    for_each_block(x.rows, block_rows(), steps_per_row_, n_threads, poll,
                   [&](Range rows, const StopFlag& stop) {
                       std::array<double, kMostRows> sum{};
                       for_each_leaf(x, stop, all_of(rows),
                                     [&](std::size_t, std::size_t k, NodeId, double value) {
                                         sum[k] += value;
                                     });
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
                       for_each_leaf(x, stop, all_of(rows),
                                     [&](std::size_t t, std::size_t k, NodeId leaf, double) {
                                         out[rows[k] * n_trees() + t] = leaf;
                                     });
                   });
}

template <class Real>
void Predictor<Real>::mean_held_out(const Matrix<Real>& x, std::span<const Row> order,
                                    std::uint32_t n_labeled, const TrainParams& params, double* out,
                                    const Poll& poll) const {
    check_rows(order, n_labeled, x.rows, params.sampling);
    const auto n_rows = static_cast<std::uint32_t>(order.size());
    std::vector<std::vector<bool>> seen(n_trees(), std::vector<bool>(n_rows));
    run_tasks(
        n_trees(), params.n_threads,
        [&](std::size_t t, const StopFlag&) {
            const Sample sample =
                draw_sample(params.sampling, tree_key(params.seed, t), n_labeled, n_rows);
            for (const Row row : sample.rows) seen[t][row] = true;
        },
        poll);
    for_each_block(
        n_rows, block_rows(), steps_per_row_, params.n_threads, poll,
        [&](Range block, const StopFlag& stop) {
            std::array<double, kMostRows> sum{};
            std::array<std::uint32_t, kMostRows> count{};
            const auto held_out = [&](std::size_t t, const auto& add) {
                for (std::size_t k = 0; k < block.size(); ++k) {
                    if (!seen[t][block[k]]) add(k, order[block[k]]);
                }
            };
            for_each_leaf(x, stop, held_out, [&](std::size_t, std::size_t k, NodeId, double value) {
                sum[k] += value;
                ++count[k];
            });
            for (std::size_t k = 0; k < block.size(); ++k) {
                out[order[block[k]]] =
                    count[k] ? sum[k] / count[k] : std::numeric_limits<double>::quiet_NaN();
            }
        });
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace puforest
