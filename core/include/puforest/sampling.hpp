// The rows that a tree is trained on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "puforest/params.hpp"
#include "puforest/rng.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Row positions in ascending order; rows drawn repeatedly are repeated. The first n_labeled are
// labeled. Both groups have at least one row. The next n_confirmed rows were found positive.
struct Sample {
    std::vector<Row> rows;
    std::uint32_t n_labeled = 0;
    std::uint32_t n_confirmed = 0;
};

inline bool sees_every_row(const Sampling& s, std::uint32_t n_labeled, std::uint32_t n_rows,
                           std::uint32_t n_confirmed = 0) {
    return !s.replace && !s.together && s.labeled == n_labeled && s.confirmed == n_confirmed &&
           s.unlabeled == n_rows - n_labeled - n_confirmed;
}

// Throws std::invalid_argument if there are no rows, or one that is not in an X of `x_rows` rows.
void check_order(std::span<const Row> order, std::size_t x_rows);

// Throws std::invalid_argument unless every tree can draw both labeled and unlabeled rows.
void check_sampling(const FitRows& rows, const Sampling& sampling);

// A sample without folds for the tree with this key; deterministic.
Sample draw_sample(const Sampling& sampling, std::uint64_t key, std::uint32_t n_labeled,
                   std::uint32_t n_rows, std::uint32_t n_confirmed = 0);

// The sample of a tree of the forest.
Sample draw_sample(const TrainParams& params, std::size_t tree, const FitRows& rows);

}  // namespace puforest
