// Predictions of each row at several values of one or more features, for partial dependence.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "puforest/predict.hpp"

namespace puforest {
namespace {

using PointSet = std::uint64_t;  // bit p: point p
constexpr std::size_t kPoints = 64;

// Sums over the trees for this many rows and all points stay in the second-level cache.
constexpr std::size_t kRowsAtOnce = 256;

constexpr PointSet first_points(std::size_t n) { return ~PointSet{0} >> (kPoints - n); }

// Add a value to the sum of each point of the set, one run of neighbors after the other.
void add(double value, PointSet points, double* sum) {
    std::size_t p = 0;
    while (points) {
        const auto skipped = static_cast<std::size_t>(std::countr_zero(points));
        points >>= skipped;
        p += skipped;
        const auto run = static_cast<std::size_t>(std::countr_one(points));
        for (std::size_t i = 0; i < run; ++i) sum[p + i] += value;
        if (run == kPoints) return;
        points >>= run;
        p += run;
    }
}

}  // namespace

// At most 64 points, and on which side of each split they are.
template <class Real>
struct Predictor<Real>::Variation {
    static constexpr std::uint8_t kFixed = 255;

    PointSet all;
    std::vector<std::uint8_t> column;  // in the points, of each feature; kFixed if it is not varied
    std::vector<PointSet> right;       // of each node that splits on a varied feature
};

template <class Real>
template <class Word>
void Predictor<Real>::set_sides(const Matrix<Real>& points, std::size_t first,
                                Variation& variation) const {
    const std::size_t n_points = std::min(kPoints, points.rows - first);
    variation.all = first_points(n_points);
    const auto* const nodes = reinterpret_cast<const Node<Word>*>(nodes_.get());
    const std::size_t n_nodes = variation.right.size();
    std::vector<bool> is_leaf(n_nodes);
    for (std::size_t t = 0; t < root_.size(); ++t) is_leaf[root_[t]] = root_is_leaf_[t];
    for (std::size_t k = 0; k < n_nodes; ++k) {  // children come after their parents
        if (is_leaf[k]) continue;
        const Node<Word>& node = nodes[k];
        const std::size_t left = k + step_to_left(node);
        is_leaf[left] = node.split & 1;
        is_leaf[left + 1] = node.split >> 1 & 1;
        const std::uint8_t column = variation.column[feature(node)];
        if (column == Variation::kFixed) continue;
        PointSet right = 0;
        for (std::size_t p = 0; p < n_points; ++p) {
            const Real x = points.at(first + p, column);
            right |= PointSet{goes_right<Splits::Categorical>(node, x)} << p;
        }
        variation.right[k] = right;
    }
}

// All rows walk down a tree together, one step each in turn, so that they need not wait for memory.
// At a split on a varied feature, a walk continues on both sides, each with its own points.
template <class Real>
template <class Word>
void Predictor<Real>::sum_at(const RowBlock<Real>& block, std::size_t first_row, std::size_t n_rows,
                             const Variation& variation, double* sum, const StopFlag& stop) const {
    struct Walk {
        const Node<Word>* at;
        PointSet points;
        std::size_t k;
    };
    const auto* const nodes = reinterpret_cast<const Node<Word>*>(nodes_.get());
    std::vector<Walk> walking;
    std::vector<Walk> next;
    for (std::size_t t = 0; t < n_trees(); ++t) {
        const auto reach = [&](const Node<Word>* node, bool is_leaf, PointSet points,
                               std::size_t k) {
            if (is_leaf) {
                double value;
                std::memcpy(&value, node, sizeof(value));
                add(value, points, sum + k * kPoints);
            } else {
                __builtin_prefetch(node);
                next.push_back({node, points, k});
            }
        };
        next.clear();
        for (std::size_t k = 0; k < n_rows; ++k) {
            reach(nodes + root_[t], root_is_leaf_[t], variation.all, k);
        }
        while (!next.empty() && !stop.load(std::memory_order_relaxed)) {
            std::swap(walking, next);
            next.clear();
            for (const auto& [at, points, k] : walking) {
                const std::size_t j = feature(*at);
                const Node<Word>* const left = at + step_to_left(*at);
                PointSet right = 0;
                if (variation.column[j] == Variation::kFixed) {
                    const Real x =
                        block.row[first_row + k][static_cast<std::ptrdiff_t>(j) * block.col_stride];
                    right = goes_right<Splits::Categorical>(*at, x) ? points : 0;
                } else {
                    right = points & variation.right[static_cast<std::size_t>(at - nodes)];
                }
                if (right != points) reach(left, at->split & 1, points & ~right, k);
                if (right) reach(left + 1, at->split >> 1 & 1, right, k);
            }
        }
    }
}

template <class Real>
void Predictor<Real>::mean_at(const AnyMatrix<Real>& x, std::span<const FeatureId> varied,
                              const Matrix<Real>& points, double* out, unsigned n_threads,
                              const Poll& poll) const {
    if (varied.size() != points.cols || varied.size() >= Variation::kFixed) {
        throw std::invalid_argument("the points must have one column for each varied feature");
    }
    Variation variation{{}, std::vector<std::uint8_t>(n_features_, Variation::kFixed), {}};
    for (std::size_t i = 0; i < varied.size(); ++i) {
        if (varied[i] >= n_features_) throw std::invalid_argument("no such feature to vary");
        variation.column[varied[i]] = static_cast<std::uint8_t>(i);
    }
    variation.right.resize(n_nodes_);
    const std::size_t n_rows = std::visit([](const auto& matrix) { return matrix.rows; }, x);
    for (std::size_t first = 0; first < points.rows; first += kPoints) {
        const std::size_t n_points = std::min(kPoints, points.rows - first);
        if (small_nodes_) {
            set_sides<std::uint32_t>(points, first, variation);
        } else {
            set_sides<std::uint64_t>(points, first, variation);
        }
        const auto use = [&](const RowBlock<Real>& block, const StopFlag& stop) {
            std::vector<double> sum;
            for (std::size_t begin = 0; begin < block.size; begin += kRowsAtOnce) {
                const std::size_t size = std::min(kRowsAtOnce, block.size - begin);
                sum.assign(size * kPoints, 0.0);
                if (small_nodes_) {
                    sum_at<std::uint32_t>(block, begin, size, variation, sum.data(), stop);
                } else {
                    sum_at<std::uint64_t>(block, begin, size, variation, sum.data(), stop);
                }
                for (std::size_t k = 0; k < size; ++k) {
                    double* const of_row = out + (block.first + begin + k) * points.rows + first;
                    for (std::size_t p = 0; p < n_points; ++p) {
                        of_row[p] = sum[k * kPoints + p] / static_cast<double>(n_trees());
                    }
                }
            }
        };
        for_each_block(x, n_rows, nullptr, n_threads, poll, use);
    }
}

template void Predictor<float>::mean_at(const AnyMatrix<float>&, std::span<const FeatureId>,
                                        const Matrix<float>&, double*, unsigned, const Poll&) const;
template void Predictor<double>::mean_at(const AnyMatrix<double>&, std::span<const FeatureId>,
                                         const Matrix<double>&, double*, unsigned,
                                         const Poll&) const;

}  // namespace puforest
