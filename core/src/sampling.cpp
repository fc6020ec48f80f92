#include "puforest/sampling.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

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

void check_rows(std::span<const Row> order, std::uint32_t n_labelled, std::size_t x_rows,
                const Sampling& sampling) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    require(order.size() <= kMaxRows, "too many rows: at most 2^30 - 1");
    require(n_labelled > 0 && n_labelled < order.size(),
            "both labelled and unlabelled rows are needed");
    require(std::all_of(order.begin(), order.end(), [&](Row row) { return row < x_rows; }),
            "a row index lies outside X");
    if (sampling.together) return;
    require(sampling.labelled > 0 && sampling.unlabelled > 0, "a tree needs rows of both groups");
    require(sampling.replace || (sampling.labelled <= n_labelled &&
                                 sampling.unlabelled <= order.size() - n_labelled),
            "more rows to draw than there are");
}

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
