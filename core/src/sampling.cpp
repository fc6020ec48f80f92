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

void check_rows(std::span<const Row> order, std::uint32_t n_labeled, std::size_t x_rows,
                const Sampling& sampling) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    require(order.size() <= kMaxRows, "too many rows: at most 2^30 - 1");
    require(n_labeled > 0 && n_labeled < order.size(),
            "both labeled and unlabeled rows are required");
    require(std::all_of(order.begin(), order.end(), [&](Row row) { return row < x_rows; }),
            "a row index is outside X");
    if (sampling.together) return;
    require(sampling.labeled > 0 && sampling.unlabeled > 0, "a tree requires rows of both groups");
    require(sampling.replace ||
                (sampling.labeled <= n_labeled && sampling.unlabeled <= order.size() - n_labeled),
            "cannot draw more rows than there are without replacement");
}

Sample draw_sample(const Sampling& sampling, std::uint64_t key, std::uint32_t n_labeled,
                   std::uint32_t n_rows) {
    const std::uint32_t n_unlabeled = n_rows - n_labeled;
    Sample sample;
    if (sees_every_row(sampling, n_labeled, n_rows)) {
        sample.rows.resize(n_rows);
        std::iota(sample.rows.begin(), sample.rows.end(), Row{0});
        sample.n_labeled = n_labeled;
        return sample;
    }

    Rng rng(derive(key, kSample));
    Multiplicity times(n_rows);
    if (sampling.together) {
        draw_with_replacement(rng, 0, n_rows, n_rows, times);
        // A tree needs both groups: if none of a group was drawn, draw one row of it.
        if (total(times, 0, n_labeled) == 0) ++times[rng.below(n_labeled)];
        if (total(times, n_labeled, n_rows) == 0) ++times[n_labeled + rng.below(n_unlabeled)];
    } else {
        const auto draw = sampling.replace ? draw_with_replacement : draw_without_replacement;
        draw(rng, 0, n_labeled, sampling.labeled, times);
        draw(rng, n_labeled, n_unlabeled, sampling.unlabeled, times);
    }
    sample.n_labeled = total(times, 0, n_labeled);
    sample.rows.reserve(sample.n_labeled + total(times, n_labeled, n_rows));
    for (Row row = 0; row < n_rows; ++row) sample.rows.insert(sample.rows.end(), times[row], row);
    return sample;
}

}  // namespace puforest
