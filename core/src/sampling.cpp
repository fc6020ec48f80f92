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

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check_folds(const FitRows& rows, std::uint32_t n_folds) {
    require(rows.fold.size() == rows.order.size(), "folds require one value per row");
    const auto fits = [&](std::uint8_t fold) { return fold < n_folds; };
    require(std::ranges::all_of(rows.fold, fits), "the fold of a row is not below n_folds");
    for (const auto group :
         {rows.fold.first(rows.n_labeled), rows.fold.subspan(rows.others_begin())}) {
        require(std::ranges::count(group, group[0]) < std::ssize(group),
                "a fold has all labeled or all unlabeled rows: some trees would have none");
    }
}

// All rows of other folds.
Sample outside_fold(const FitRows& rows, std::size_t fold) {
    Sample sample;
    sample.rows.reserve(rows.size());
    for (Row row = 0; row < rows.size(); ++row) {
        if (rows.fold[row] == fold) continue;
        sample.rows.push_back(row);
        sample.n_labeled += row < rows.n_labeled;
        sample.n_confirmed += row >= rows.n_labeled && row < rows.others_begin();
    }
    return sample;
}

}  // namespace

void check_order(std::span<const Row> order, std::size_t x_rows) {
    require(!order.empty(), "no rows are given");
    require(order.size() <= kMaxRows, "too many rows: at most 2^30 - 1");
    require(std::ranges::all_of(order, [&](Row row) { return row < x_rows; }),
            "a row index is outside X");
}

void check_sampling(const FitRows& rows, const Sampling& sampling) {
    require(rows.n_labeled > 0 && rows.n_labeled < rows.order.size(),
            "both labeled and unlabeled rows are required");
    require(rows.n_confirmed < rows.order.size() - rows.n_labeled,
            "unlabeled rows that were not found positive are required");
    if (sampling.n_folds > 0) {
        require(!sampling.together, "rows are sampled by group if there are folds");
        check_folds(rows, sampling.n_folds);
    }
    if (sampling.together) return;
    require(sampling.labeled > 0 && sampling.unlabeled > 0 &&
                (sampling.confirmed > 0 || rows.n_confirmed == 0),
            "a tree requires rows of both groups");
    require(sampling.replace || sampling.n_folds > 0 ||
                (sampling.labeled <= rows.n_labeled && sampling.confirmed <= rows.n_confirmed &&
                 sampling.unlabeled <= rows.order.size() - rows.others_begin()),
            "cannot draw more rows than there are without replacement");
}

Sample draw_sample(const Sampling& sampling, std::uint64_t key, std::uint32_t n_labeled,
                   std::uint32_t n_rows, std::uint32_t n_confirmed) {
    const Row others = n_labeled + n_confirmed;
    Sample sample;
    if (sees_every_row(sampling, n_labeled, n_rows, n_confirmed)) {
        sample.rows.resize(n_rows);
        std::iota(sample.rows.begin(), sample.rows.end(), Row{0});
        sample.n_labeled = n_labeled;
        sample.n_confirmed = n_confirmed;
        return sample;
    }

    Rng rng(derive(key, kSample));
    Multiplicity times(n_rows);
    if (sampling.together) {
        draw_with_replacement(rng, 0, n_rows, n_rows, times);
        // A tree needs all groups: if none of a group was drawn, draw one row of it.
        const auto require_one = [&](Row first, Row last) {
            if (first < last && total(times, first, last) == 0) {
                ++times[first + rng.below(last - first)];
            }
        };
        require_one(0, n_labeled);
        require_one(n_labeled, others);
        require_one(others, n_rows);
    } else {
        const auto draw = sampling.replace ? draw_with_replacement : draw_without_replacement;
        draw(rng, 0, n_labeled, sampling.labeled, times);
        draw(rng, n_labeled, n_confirmed, sampling.confirmed, times);
        draw(rng, others, n_rows - others, sampling.unlabeled, times);
    }
    sample.n_labeled = total(times, 0, n_labeled);
    sample.n_confirmed = total(times, n_labeled, others);
    sample.rows.reserve(sample.n_labeled + total(times, n_labeled, n_rows));
    for (Row row = 0; row < n_rows; ++row) sample.rows.insert(sample.rows.end(), times[row], row);
    return sample;
}

Sample draw_sample(const TrainParams& params, std::size_t tree, const FitRows& rows) {
    Sampling sampling = params.sampling;
    const std::uint64_t key = tree_key(params.seed, tree);
    if (sampling.n_folds == 0) {
        return draw_sample(sampling, key, rows.n_labeled, rows.size(), rows.n_confirmed);
    }
    const Sample seen = outside_fold(rows, tree % sampling.n_folds);
    const auto n_seen = static_cast<std::uint32_t>(seen.rows.size());
    sampling.labeled = std::min(sampling.labeled, seen.n_labeled);
    sampling.confirmed = std::min(sampling.confirmed, seen.n_confirmed);
    sampling.unlabeled = std::min(sampling.unlabeled, n_seen - seen.n_labeled - seen.n_confirmed);
    Sample sample = draw_sample(sampling, key, seen.n_labeled, n_seen, seen.n_confirmed);
    for (Row& row : sample.rows) row = seen.rows[row];
    return sample;
}

}  // namespace puforest
