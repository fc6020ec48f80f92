#include "puforest/predict.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "puforest/sampling.hpp"

namespace puforest {
namespace {

constexpr std::size_t kAhead = 16;  // walks whose values of X are prefetched together

// Calls of at most this many steps down trees run on the calling thread alone and cannot be
// interrupted: a few milliseconds.
constexpr std::size_t kSmallWork = 400'000;

// Rows are searched for missing values, so that those without any are walked faster, if they have
// at most this many values per step. The search takes 12 instructions per 64 bytes (0.7% of the
// prediction by 100 trees on 784 floats), and a step that checks for missing values takes 6 more.
constexpr std::size_t kSearchedPerStep = 4;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// The largest Real that is at most t. No Real lies between the two, so every Real compares with it
// as with t, which may be infinite.
template <class Real>
Real rounded_down(double t) {
    const auto rounded = static_cast<Real>(t);
    return rounded > t ? std::nextafter(rounded, -std::numeric_limits<Real>::infinity()) : rounded;
}

template <class Real>
std::size_t row_count(const AnyMatrix<Real>& x) {
    return std::visit([](const auto& matrix) { return matrix.rows; }, x);
}

constexpr auto all_trees = [](std::size_t, std::size_t) { return true; };

void check_categories(const ForestArrays& forest) {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < forest.feature.size(); ++k) {
        const std::int32_t n = forest.n_categories[k];
        if (n == 0) continue;
        require(n > 0 && static_cast<std::size_t>(n) <= forest.categories.size() - begin &&
                    forest.feature[k] != kLeaf,
                "the number of categories of a node of the model is invalid");
        const auto list = forest.categories.subspan(begin, static_cast<std::size_t>(n));
        require(std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end(),
                "the categories of a node of the model are not in ascending order");
        begin += list.size();
    }
    require(begin == forest.categories.size(),
            "the model lists categories that do not belong to a node");
}

}  // namespace

template <class Real>
Predictor<Real>::Predictor(const ForestArrays& forest, std::uint32_t n_features)
    : n_features_(n_features), n_nodes_(forest.feature.size()) {
    const std::size_t n = n_nodes_;
    require(n_features > 0, "a model has at least one feature");
    require(forest.threshold.size() == n && forest.missing_left.size() == n &&
                forest.n_categories.size() == n && forest.left.size() == n &&
                forest.value.size() == n,
            "the arrays of the model differ in length");
    require(forest.offset.size() > 1 && forest.offset.front() == 0 &&
                forest.offset.back() == static_cast<std::int64_t>(n),
            "the trees of the model do not cover its nodes");
    NodeId longest_step = 0;
    for (std::size_t t = 0; t + 1 < forest.offset.size(); ++t) {
        longest_step = std::max(longest_step, check_tree(forest, t));
    }
    check_categories(forest);
    if (!forest.categories.empty()) {
        splits_ = Splits::Categorical;
    } else if (std::ranges::count(forest.missing_left, 0) != std::ssize(forest.missing_left)) {
        splits_ = Splits::Missing;
    }

    step_bits_ = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(longest_step)));
    const auto feature_bits = static_cast<std::uint32_t>(std::bit_width(n_features));
    small_nodes_ = sizeof(Real) == 4 && kFlags + step_bits_ + feature_bits <= 32;
    if (small_nodes_) {
        pack<std::uint32_t>(forest);
    } else {
        pack<std::uint64_t>(forest);
    }
}

template <class Real>
NodeId Predictor<Real>::check_tree(const ForestArrays& forest, std::size_t t) {
    require(forest.offset[t] < forest.offset[t + 1] && forest.offset[t + 1] <= forest.offset.back(),
            "the trees of the model do not follow each other");
    const std::int64_t size = forest.offset[t + 1] - forest.offset[t];
    require(size <= std::numeric_limits<NodeId>::max(), "a tree of the model is too large");
    const auto first = static_cast<std::size_t>(forest.offset[t]);
    root_.push_back(first);
    root_is_leaf_.push_back(forest.feature[first] == kLeaf);
    NodeId longest_step = 0;
    std::vector<std::uint32_t> depth(static_cast<std::size_t>(size));
    for (NodeId i = 0; i < size; ++i) {
        const std::size_t k = first + static_cast<std::size_t>(i);
        const std::int32_t feature = forest.feature[k];
        require(forest.missing_left[k] <= 1,
                "a node of the model sends missing values neither left nor right");
        if (feature == kLeaf) continue;
        require(feature >= 0 && static_cast<std::uint32_t>(feature) < n_features_,
                "a node of the model splits on a feature that does not exist");
        require(forest.threshold[k] > -std::numeric_limits<double>::infinity(),
                "a threshold of the model is not a number or is -inf");
        // Children come after their parents, so that no walk can return to a node.
        require(forest.left[k] > i && forest.left[k] < size - 1,
                "a node of the model has children outside its tree");
        longest_step = std::max(longest_step, forest.left[k] - i);
        const auto child = static_cast<std::size_t>(forest.left[k]);
        depth[child] = depth[child + 1] = depth[static_cast<std::size_t>(i)] + 1;
    }
    steps_per_row_ += *std::max_element(depth.begin(), depth.end());
    return longest_step;
}

template <class Real>
template <class Word>
void Predictor<Real>::pack(const ForestArrays& forest) {
    const std::size_t n = forest.feature.size();
    nodes_ = allocate(n * sizeof(Node<Word>));
    auto* const nodes = reinterpret_cast<Node<Word>*>(nodes_.get());
    const auto is_leaf = [&](std::size_t k) { return forest.feature[k] == kLeaf; };
    auto categories = forest.categories;
    for (std::size_t t = 0; t < root_.size(); ++t) {
        const std::size_t end = t + 1 < root_.size() ? root_[t + 1] : n;
        for (std::size_t k = root_[t]; k < end; ++k) {
            if (is_leaf(k)) {
                std::memcpy(&nodes[k], &forest.value[k], sizeof(double));
                continue;
            }
            const auto n_listed = static_cast<std::size_t>(forest.n_categories[k]);
            const std::size_t left = root_[t] + static_cast<std::size_t>(forest.left[k]);
            const Word flags = Word{is_leaf(left)} | Word{is_leaf(left + 1)} << 1 |
                               Word{forest.missing_left[k]} << kMissingLeft |
                               Word{n_listed > 0} << kCategorical;
            const auto feature = static_cast<Word>(forest.feature[k]);
            nodes[k] = {
                rounded_down<Real>(forest.threshold[k]),
                feature << (kFlags + step_bits_) | static_cast<Word>(left - k) << kFlags | flags};
            if (n_listed > 0) {
                const auto set = sets_.add(categories.first(n_listed));
                std::memcpy(&nodes[k].threshold, &set, sizeof(set));
                categories = categories.subspan(n_listed);
            }
        }
    }
}

template <class Real>
std::size_t Predictor<Real>::node_bytes() const {
    return small_nodes_ ? sizeof(Node<std::uint32_t>) : sizeof(Node<std::uint64_t>);
}

// Rows are processed in blocks, tree by tree: trees are read once per block, and the rows of a
// block once per tree.
template <class Real>
void Predictor<Real>::for_each_block(
    const AnyMatrix<Real>& x, std::size_t n_rows, const Row* order, unsigned n_threads,
    const Poll& poll,
    const std::function<void(const RowBlock<Real>&, const StopFlag&)>& use) const {
    const auto use_blocks = [&]<class X>(const X& matrix) {
        RowBlocks<X> blocks(matrix, order);
        const std::size_t block_rows = blocks.block_rows();
        const std::size_t n_blocks = (n_rows + block_rows - 1) / block_rows;
        const bool search =
            splits_ == Splits::Missing && n_features_ / kSearchedPerStep <= steps_per_row_;
        const auto use_block = [&](std::size_t b, const StopFlag& stop) {
            const std::size_t first = b * block_rows;
            blocks.read(first, std::min(block_rows, n_rows - first), search,
                        [&](const RowBlock<Real>& block) { use(block, stop); });
        };
        if (n_rows * steps_per_row_ <= kSmallWork) {
            const StopFlag never{false};
            for (std::size_t b = 0; b < n_blocks; ++b) use_block(b, never);
        } else {
            run_tasks(n_blocks, n_threads, use_block, poll);
        }
    };
    std::visit(use_blocks, x);
}

// Walks down trees, of the rows of a block. Those that have not reached a leaf yet come first in
// `walking`.
template <class Real>
struct Predictor<Real>::Walks {
    struct Walk {
        const Real* row;
        const std::byte* at;
        const std::byte** leaf;  // of its end
    };
    struct End {
        std::uint32_t tree;
        std::uint32_t k;
        const std::byte* leaf;
    };
    std::ptrdiff_t col_stride;
    std::size_t n_walking = 0;
    std::size_t n_ends = 0;
    std::array<Walk, kMostRows> walking;
    std::array<End, kMostRows> ends;
};

template <class Real>
template <class Enters, class Use>
void Predictor<Real>::for_each_leaf(const RowBlock<Real>& block, const StopFlag& stop,
                                    const Enters& enters, const Use& use) const {
    const bool plain = splits_ == Splits::Missing && !block.maybe_missing;
    const std::size_t at_once = kMostRows / block.size;
    for (std::size_t first = 0; first < n_trees(); first += at_once) {
        Walks walks;
        walks.col_stride = block.col_stride;
        for (std::size_t t = first; t < std::min(first + at_once, n_trees()); ++t) {
            const std::byte* const root = nodes_.get() + root_[t] * node_bytes();
            const bool is_leaf = root_is_leaf_[t];
            for (std::size_t k = 0; k < block.size; ++k) {
                if (!enters(t, k)) continue;
                auto& end = walks.ends[walks.n_ends++];
                end = {static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(k), root};
                if (!is_leaf) walks.walking[walks.n_walking++] = {block.row[k], root, &end.leaf};
            }
        }
        walk(plain ? Splits::Plain : splits_, walks, stop);
        for (const auto& [t, k, leaf] : std::span(walks.ends).first(walks.n_ends)) {
            const std::byte* const root = nodes_.get() + root_[t] * node_bytes();
            double value;
            std::memcpy(&value, leaf, sizeof(value));
            use(t, k, static_cast<NodeId>(static_cast<std::size_t>(leaf - root) / node_bytes()),
                value);
        }
    }
}

template <class Real>
void Predictor<Real>::walk(Splits splits, Walks& walks, const StopFlag& stop) const {
    const auto with = [&]<Splits kSplits>() {
        if constexpr (sizeof(Real) == 4) {
            if (small_nodes_) return walk_nodes<kSplits, std::uint32_t>(walks, stop);
        }
        walk_nodes<kSplits, std::uint64_t>(walks, stop);
    };
    switch (splits) {
        case Splits::Plain: return with.template operator()<Splits::Plain>();
        case Splits::Missing: return with.template operator()<Splits::Missing>();
        case Splits::Categorical: return with.template operator()<Splits::Categorical>();
    }
}

// A walk down a tree waits for memory at every step. Therefore many walks are interleaved, one step
// each in turn; each prefetches its next node a whole turn before it needs it, and its next value
// of X a few walks before. Walks that reach a leaf drop out. Inlined beside its other instances,
// the loop would run out of registers (6% more instructions).
template <class Real>
template <typename Predictor<Real>::Splits kSplits, class Word>
[[gnu::noinline]] void Predictor<Real>::walk_nodes(Walks& walks, const StopFlag& stop) const {
    using Walk = typename Walks::Walk;
    const Word step_mask = (Word{1} << step_bits_) - 1;
    const std::uint32_t feature_shift = kFlags + step_bits_;
    const std::ptrdiff_t col_stride = walks.col_stride;
    const auto node_of = [](const Walk& walk) {
        return reinterpret_cast<const Node<Word>*>(walk.at);
    };
    Walk* const walking = walks.walking.data();
    std::size_t n_walking = walks.n_walking;
    while (n_walking > 0 && !stop.load(std::memory_order_relaxed)) {
        std::size_t still_walking = 0;
        for (std::size_t begin = 0; begin < n_walking; begin += kAhead) {
            const std::size_t n = std::min(kAhead, n_walking - begin);
            const Walk* const some = walking + begin;
            std::array<const Real*, kAhead> cell;
            for (std::size_t i = 0; i < n; ++i) {
                const auto feature =
                    static_cast<std::ptrdiff_t>(node_of(some[i])->split >> feature_shift);
                cell[i] = some[i].row + feature * col_stride;
                __builtin_prefetch(cell[i]);
            }
            for (std::size_t i = 0; i < n; ++i) {
                const Node<Word>* const at = node_of(some[i]);
                const Word split = at->split;
                const std::size_t right = goes_right<kSplits>(*at, *cell[i]);
                const auto* const next =
                    reinterpret_cast<const std::byte*>(at + (split >> kFlags & step_mask) + right);
                __builtin_prefetch(next);
                *some[i].leaf = next;
                walking[still_walking] = {some[i].row, next, some[i].leaf};
                still_walking += (split >> right & 1) == 0;
            }
        }
        n_walking = still_walking;
    }
}

template <class Real>
void Predictor<Real>::mean(const AnyMatrix<Real>& x, double* out, unsigned n_threads,
                           const Poll& poll) const {
    for_each_block(x, row_count(x), nullptr, n_threads, poll,
                   [&](const RowBlock<Real>& block, const StopFlag& stop) {
                       std::array<double, kMostRows> sum{};
                       for_each_leaf(block, stop, all_trees,
                                     [&](std::size_t, std::size_t k, NodeId, double value) {
                                         sum[k] += value;
                                     });
                       for (std::size_t k = 0; k < block.size; ++k) {
                           out[block.first + k] = sum[k] / static_cast<double>(n_trees());
                       }
                   });
}

template <class Real>
void Predictor<Real>::leaves(const AnyMatrix<Real>& x, std::int32_t* out, unsigned n_threads,
                             const Poll& poll) const {
    for_each_block(x, row_count(x), nullptr, n_threads, poll,
                   [&](const RowBlock<Real>& block, const StopFlag& stop) {
                       for_each_leaf(block, stop, all_trees,
                                     [&](std::size_t t, std::size_t k, NodeId leaf, double) {
                                         out[(block.first + k) * n_trees() + t] = leaf;
                                     });
                   });
}

template <class Real>
void Predictor<Real>::mean_held_out(const AnyMatrix<Real>& x, const FitRows& rows,
                                    const TrainParams& params, double* out,
                                    const Poll& poll) const {
    check_order(rows.order, row_count(x));
    const auto mean_over = [&](const auto& is_held_out) {
        for_each_block(
            x, rows.size(), rows.order.data(), params.n_threads, poll,
            [&](const RowBlock<Real>& block, const StopFlag& stop) {
                std::array<double, kMostRows> sum{};
                std::array<std::uint32_t, kMostRows> count{};
                for_each_leaf(
                    block, stop,
                    [&](std::size_t t, std::size_t k) { return is_held_out(t, block.first + k); },
                    [&](std::size_t, std::size_t k, NodeId, double value) {
                        sum[k] += value;
                        ++count[k];
                    });
                for (std::size_t k = 0; k < block.size; ++k) {
                    out[rows.order[block.first + k]] =
                        count[k] ? sum[k] / count[k] : std::numeric_limits<double>::quiet_NaN();
                }
            });
    };
    if (const std::uint32_t n_folds = params.sampling.n_folds; n_folds > 0) {
        // Folds say it all, so that the rows can be any of those of the fit.
        if (rows.fold.size() != rows.size()) {
            throw std::invalid_argument("folds require one value per row");
        }
        mean_over([&](std::size_t t, std::size_t row) { return rows.fold[row] == t % n_folds; });
        return;
    }
    check_sampling(rows, params.sampling);
    std::vector<std::vector<bool>> seen(n_trees(), std::vector<bool>(rows.size()));
    run_tasks(
        n_trees(), params.n_threads,
        [&](std::size_t t, const StopFlag&) {
            for (const Row row : draw_sample(params, t, rows).rows) seen[t][row] = true;
        },
        poll);
    mean_over([&](std::size_t t, std::size_t row) { return !seen[t][row]; });
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace puforest
