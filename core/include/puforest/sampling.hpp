// The rows that a tree is trained on.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "puforest/parallel.hpp"
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

// Throws std::invalid_argument if there are no rows, or one that is not in an X of `x_rows` rows.
void check_order(std::span<const Row> order, std::size_t x_rows);

// Throws std::invalid_argument unless every tree can draw both labeled and unlabeled rows.
void check_sampling(const FitRows& rows, const Sampling& sampling);

// A tree needs rows that were left out.
struct IncompleteSample : std::runtime_error {
    IncompleteSample() : runtime_error("some of the rows that a tree needs are left out") {}
};

// The sample of a tree of the forest. Whether it has a row depends on a hash of the seed, the tree
// and the id of the row, so the same rows are drawn from any part of the data that has them.
Sample draw_sample(const TrainParams& params, std::size_t tree, const FitRows& rows);

// A sample without replacement of about this fraction of all rows, by its seed and number.
struct SampledFraction {
    std::uint64_t seed;
    std::uint32_t number;
    double fraction;
};

// Mark which of consecutive ids are among the first to arrive in any of several samples.
void mark_sampled(std::uint64_t first_id, std::span<const SampledFraction> samples,
                  std::span<std::uint8_t> marks, std::uint32_t n_threads, const Poll& poll);

}  // namespace puforest
