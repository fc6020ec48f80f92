// Data, parameters and trees for the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "puforest/predict.hpp"
#include "puforest/rng.hpp"
#include "puforest/sampling.hpp"
#include "puforest/train.hpp"

namespace puforest::testing {

template <class T>
void shuffle(std::span<T> items, Rng& rng) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

// A row-major matrix and its training rows, labeled ones first.
template <class Real = double>
struct Data {
    std::vector<Real> x;
    std::size_t cols;
    std::vector<Row> order;
    std::uint32_t n_labeled;
    std::vector<std::uint8_t> fold = {};

    std::size_t rows() const { return x.size() / cols; }
    std::uint32_t n_unlabeled() const {
        return static_cast<std::uint32_t>(order.size()) - n_labeled;
    }
    FitRows fit_rows() const { return {order, n_labeled, fold}; }
    Matrix<Real> matrix() const {
        return {x.data(), rows(), cols, static_cast<std::ptrdiff_t>(cols), 1};
    }
};

// The values of a matrix that are not 0, by rows.
template <class Real>
struct Sparse {
    std::vector<Real> data;
    std::vector<std::int32_t> column;
    std::vector<std::int64_t> begin{0};
    std::size_t cols;

    explicit Sparse(const Matrix<Real>& x) : cols(x.cols) {
        for (std::size_t i = 0; i < x.rows; ++i) {
            for (std::size_t j = 0; j < x.cols; ++j) {
                if (x.at(i, j) == 0) continue;
                data.push_back(x.at(i, j));
                column.push_back(static_cast<std::int32_t>(j));
            }
            begin.push_back(static_cast<std::int64_t>(data.size()));
        }
    }

    SparseMatrix<Real> matrix() const {
        return {data.data(), column.data(), begin.data(), begin.size() - 1, cols};
    }
};

struct Shape {
    std::uint32_t n_labeled = 40;
    std::uint32_t n_unlabeled = 80;
    std::size_t cols = 4;
    std::uint32_t levels = 0;  // distinct values of a column; 0: one per row
};

// Labeled rows have larger values on average. X has a few more rows than the training rows, in
// random positions.
inline Data<> random_data(std::uint64_t seed, const Shape& shape = {}) {
    constexpr std::size_t kSpareRows = 5;
    Rng rng(seed);
    const std::size_t n = shape.n_labeled + shape.n_unlabeled;
    Data<> data{{}, shape.cols, std::vector<Row>(n + kSpareRows), shape.n_labeled};
    std::iota(data.order.begin(), data.order.end(), Row{0});
    shuffle(std::span(data.order), rng);
    data.x.resize((n + kSpareRows) * shape.cols);
    for (std::size_t i = 0; i < data.order.size(); ++i) {
        for (std::size_t j = 0; j < shape.cols; ++j) {
            const double noise = rng.uniform();
            const double level = i < shape.n_labeled ? std::max(noise, rng.uniform()) : noise;
            data.x[data.order[i] * shape.cols + j] =
                shape.levels ? static_cast<double>(static_cast<int>(level * shape.levels)) - 2
                             : level;
        }
    }
    data.order.resize(n);
    return data;
}

inline std::vector<std::uint8_t> random_folds(std::size_t n, std::uint32_t n_folds) {
    Rng rng(n_folds);
    std::vector<std::uint8_t> fold(n);
    for (std::uint8_t& f : fold) f = static_cast<std::uint8_t>(rng.below(n_folds));
    return fold;
}

// A matrix with categorical columns.
struct Table : Data<> {
    std::vector<FeatureId> categorical;
};

// Columns in turn: numbers, categories, numbers with missing values, categories with missing
// values. In the second half of the columns, values are missing mostly in labeled rows. There are
// `shape.levels` categories, or eight, with gaps between their numbers.
inline Table random_table(std::uint64_t seed, const Shape& shape = {}) {
    constexpr std::uint64_t kSpread = 6;
    Table table{random_data(seed, shape), {}};
    Rng rng(seed + 1);
    const double levels = shape.levels ? shape.levels : 8;
    std::vector<double> category(static_cast<std::size_t>(levels) + 1);
    for (std::size_t k = 1; k < category.size(); ++k) {
        category[k] = category[k - 1] + 1 + static_cast<double>(rng.below(kSpread));
    }
    shuffle(std::span(category), rng);
    std::vector<bool> is_labeled(table.rows());
    for (std::size_t i = 0; i < table.n_labeled; ++i) is_labeled[table.order[i]] = true;
    for (std::size_t j = 0; j < table.cols; ++j) {
        if (j % 2 == 1) table.categorical.push_back(static_cast<FeatureId>(j));
        for (std::size_t i = 0; i < table.rows(); ++i) {
            double& x = table.x[i * table.cols + j];
            const double level = shape.levels ? x + 2 : x * levels;
            if (j % 2 == 1) x = category[static_cast<std::size_t>(level)];
            const std::uint64_t percent = 2 * j < table.cols ? 15 : is_labeled[i] ? 40 : 5;
            if (j % 4 >= 2 && rng.below(100) < percent) x = std::nan("");
        }
    }
    return table;
}

// Sanitizers make every node ten times slower, and the time is quadratic in the depth.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kChainFeatures = 25;
#else
inline constexpr std::size_t kChainFeatures = 80;
#endif

// Data of which random thresholds split off one row at a time: each row is nonzero in one column,
// where neighbors differ by a factor of 256, so that a cut almost always isolates the largest.
inline Data<> chain_data(std::size_t n_features) {
    constexpr std::size_t kSteps = 255;
    const std::size_t n = n_features * kSteps + 2;
    Data<> data{std::vector<double>(n * n_features), n_features, std::vector<Row>(n), 1};
    std::iota(data.order.begin(), data.order.end(), Row{0});
    for (std::size_t i = 2; i < n; ++i) {
        const auto step = static_cast<int>((i - 2) % kSteps);
        data.x[i * n_features + (i - 2) / kSteps] = std::ldexp(1.0, 8 * step - 1020);
    }
    return data;
}

inline Data<float> as_floats(const Data<>& data) {
    return {{data.x.begin(), data.x.end()}, data.cols, data.order, data.n_labeled};
}

// Every tree is trained on all rows.
template <class Real>
Sampling all_rows(const Data<Real>& data) {
    return {false, false, data.n_labeled, data.n_unlabeled()};
}

template <class Real>
TrainParams default_params(const Data<Real>& data) {
    TrainParams params;
    params.max_features = 2;
    params.masses = {0.3, 0, 1};
    params.sampling = all_rows(data);
    params.seed = 7;
    params.n_trees = 3;
    return params;
}

inline TrainParams table_params(const Table& table) {
    TrainParams params = default_params(table);
    params.categorical_features = table.categorical;
    return params;
}

template <class Real>
std::vector<Tree> fit(const Data<Real>& data, const TrainParams& params,
                      const RowWeights& weights = {}, const Poll& poll = {}) {
    return train(data.matrix(), data.fit_rows(), weights, params, poll);
}

inline bool same(std::span<const Tree> a, std::span<const Tree> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline std::size_t leaf_count(const Tree& tree) {
    return static_cast<std::size_t>(std::count(tree.feature.begin(), tree.feature.end(), kLeaf));
}

// The categories listed for a node.
inline std::span<const CategoryId> listed(const Tree& tree, NodeId i) {
    const auto counts = tree.n_categories.begin();
    const auto begin = static_cast<std::size_t>(std::accumulate(counts, counts + i, 0));
    return std::span(tree.categories).subspan(begin, static_cast<std::size_t>(counts[i]));
}

// A naive implementation of Predictor.
inline bool goes_left(const Tree& tree, NodeId i, std::span<const CategoryId> list, double value) {
    const bool missing_left = tree.missing_left[i] == 1;
    if (list.empty()) return std::isnan(value) ? missing_left : value <= tree.threshold[i];
    const bool is_listed = std::find(list.begin(), list.end(), value) != list.end();
    return is_listed != missing_left;
}

inline bool goes_left(const Tree& tree, NodeId i, double value) {
    return goes_left(tree, i, listed(tree, i), value);
}

template <class Real>
NodeId walk(const Tree& tree, const Matrix<Real>& x, std::size_t row) {
    NodeId i = 0;
    while (tree.feature[i] != kLeaf) {
        const double value = x.at(row, static_cast<std::size_t>(tree.feature[i]));
        i = goes_left(tree, i, value) ? tree.left[i] : tree.left[i] + 1;
    }
    return i;
}

// The arrays of a fitted forest; the value of a node is its posterior.
struct Forest : NodeVectors {
    std::vector<std::int64_t> offset{0};
    std::vector<CategoryId> categories;
    std::vector<double> value;

    explicit Forest(std::span<const Tree> trees) {
        for (const Tree& tree : trees) {
            for_each_node_field([&](const auto&, auto get) {
                get(*this).insert(get(*this).end(), get(tree).begin(), get(tree).end());
            });
            categories.insert(categories.end(), tree.categories.begin(), tree.categories.end());
            for (NodeId i = 0; i < tree.size(); ++i) value.push_back(posterior(tree, i));
            offset.push_back(static_cast<std::int64_t>(feature.size()));
        }
    }

    static double posterior(const Tree& tree, NodeId node) {
        return tree.w_p[node] < tree.w_u[node] ? tree.w_p[node] / tree.w_u[node] : 1.0;
    }

    template <class Real = double>
    Predictor<Real> predictor(std::uint32_t n_features) const {
        ForestArrays arrays{{}, offset, categories, value};
        for_each_node_field([&](const auto&, auto get) { get(arrays) = get(*this); });
        return Predictor<Real>(arrays, n_features);
    }
};

}  // namespace puforest::testing
