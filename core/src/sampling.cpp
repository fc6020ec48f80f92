#include "puforest/sampling.hpp"

#include <numeric>

namespace puforest {
namespace {

using Multiplicity = std::vector<std::uint32_t>;

void draw_with_replacement(Rng& rng, Row first, std::uint32_t size, std::uint32_t draws,
                           Multiplicity& times) {
    for (std::uint32_t i = 0; i < draws; ++i) ++times[first + rng.below(size)];
}

// Floyd's algorithm: every subset of `draws` rows is equally likely.
void draw_without_replacement(Rng& rng, Row first, std::uint32_t size, std::uint32_t draws,
                              Multiplicity& times) {
    for (std::uint32_t j = size - draws; j < size; ++j) {
        const Row row = first + static_cast<Row>(rng.below(std::uint64_t{j} + 1));
        ++times[times[row] ? first + j : row];
    }
}

std::uint32_t total(const Multiplicity& times, Row first, Row last) {
    return std::accumulate(times.begin() + first, times.begin() + last, std::uint32_t{0});
}

}  // namespace

Sample draw_sample(const Sampling& sampling, std::uint64_t key, std::uint32_t n_labelled,
                   std::uint32_t n_rows) {
    const std::uint32_t n_unlabelled = n_rows - n_labelled;
    Sample sample;
    if (sees_every_row(sampling, n_labelled, n_rows)) {
        sample.rows.resize(n_rows);
        std::iota(sample.rows.begin(), sample.rows.end(), Row{0});
        sample.n_labelled = n_labelled;
        return sample;
    }

    Rng rng(derive(key, kSample));
    Multiplicity times(n_rows);
    if (sampling.together) {
        draw_with_replacement(rng, 0, n_rows, n_rows, times);
        // A tree needs both groups: where chance left one out, it gets one row.
        if (total(times, 0, n_labelled) == 0) ++times[rng.below(n_labelled)];
        if (total(times, n_labelled, n_rows) == 0) ++times[n_labelled + rng.below(n_unlabelled)];
    } else {
        const auto draw = sampling.replace ? draw_with_replacement : draw_without_replacement;
        draw(rng, 0, n_labelled, sampling.labelled, times);
        draw(rng, n_labelled, n_unlabelled, sampling.unlabelled, times);
    }
    sample.n_labelled = total(times, 0, n_labelled);
    sample.rows.reserve(sample.n_labelled + total(times, n_labelled, n_rows));
    for (Row row = 0; row < n_rows; ++row) sample.rows.insert(sample.rows.end(), times[row], row);
    return sample;
}

}  // namespace puforest
