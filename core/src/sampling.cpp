#include "puforest/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace puforest {
namespace {

std::uint64_t sample_key(std::uint64_t seed, std::uint64_t number) {
    return derive(tree_key(seed, number), kSample);
}

// A row that may be drawn, and its place in the order of arrival.
template <class Time>
struct Arrival {
    Time time;
    Row row;

    auto operator<=>(const Arrival&) const = default;
};

// Exponential waiting time, increasing in the hash.
double gap(std::uint64_t hash) {
    return -std::log(static_cast<double>((~hash >> 11) + 1) * 0x1.0p-53);
}

// At least this fraction of all hashes is at most the limit, despite rounding.
std::uint64_t hash_limit(double fraction) {
    constexpr double kHashes = 0x1.0p64, kRounding = 0x1.0p-40;
    const double limit = (fraction + kRounding) * kHashes;
    return limit < kHashes ? static_cast<std::uint64_t>(limit)
                           : std::numeric_limits<std::uint64_t>::max();
}

// Draws the rows of one tree. Every row arrives again and again, at the times of a Poisson process
// that is a hash of the tree and the id of the row. The rows that arrive first are a sample without
// replacement, and the first arrivals are draws with replacement.
class Drawing {
public:
    Drawing(const FitRows& rows, std::uint64_t key, std::optional<std::size_t> left_out)
        : rows_(rows), key_(key), left_out_(left_out) {}

    // Number of rows in a group that are not left out.
    std::uint32_t available(Row first, Row last) const {
        if (!left_out_) return last - first;
        const auto group = rows_.fold.subspan(first, last - first);
        return last - first - static_cast<std::uint32_t>(std::ranges::count(group, *left_out_));
    }

    // Append the positions of the drawn rows, in ascending order.
    void without_replacement(Row first, Row last, std::uint32_t draws,
                             std::vector<Row>& out) const {
        const std::uint32_t n = available(first, last);
        if (draws == n) {
            for (Row row = first; row < last; ++row) {
                if (is_available(row)) out.push_back(row);
            }
            return;
        }
        std::vector<Arrival<std::uint64_t>> arrivals;
        for (double expected = enough_for(draws); arrivals.size() < draws; expected *= 2) {
            arrivals.clear();
            for_each_hash_below(
                hash_limit(expected / n), first, last,
                [&](Row row, std::uint64_t hash) { arrivals.push_back({hash, row}); });
        }
        append_first(arrivals, draws, out);
    }

    void with_replacement(Row first, Row last, std::uint32_t draws, std::vector<Row>& out) const {
        const std::uint32_t n = available(first, last);
        std::vector<Arrival<double>> arrivals;
        for (double expected = enough_for(draws); arrivals.size() < draws; expected *= 2) {
            arrivals.clear();
            const double end = expected / n;
            for_each_hash_below(hash_limit(1 - std::exp(-end)), first, last,
                                [&](Row row, std::uint64_t hash) {
                                    for (double time = gap(hash); time < end; time += gap(hash)) {
                                        arrivals.push_back({time, row});
                                        hash = derive(hash, 0);
                                    }
                                });
        }
        append_first(arrivals, draws, out);
    }

private:
    bool is_available(Row row) const { return !left_out_ || rows_.fold[row] != *left_out_; }

    // A number of arrivals that is rarely too small: eight standard deviations more.
    static double enough_for(std::uint32_t draws) { return draws + 8 * std::sqrt(draws) + 32; }

    // Nearly all hashes are larger than the limit, so folds are looked up only for the others.
    template <class Visit>
    void for_each_hash_below(std::uint64_t limit, Row first, Row last, const Visit& visit) const {
        for (Row row = first; row < last; ++row) {
            const std::uint64_t hash = derive(key_, rows_.id(row));
            if (hash <= limit && is_available(row)) visit(row, hash);
        }
    }

    template <class Time>
    static void append_first(std::vector<Arrival<Time>>& arrivals, std::uint32_t draws,
                             std::vector<Row>& out) {
        if (draws < arrivals.size()) {
            std::ranges::nth_element(arrivals, arrivals.begin() + draws);
            arrivals.resize(draws);
        }
        const std::size_t begin = out.size();
        for (const auto& arrival : arrivals) out.push_back(arrival.row);
        std::ranges::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
    }

    const FitRows& rows_;
    std::uint64_t key_;
    std::optional<std::size_t> left_out_;
};

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

}  // namespace

void check_order(std::span<const Row> order, std::size_t x_rows) {
    require(!order.empty(), "no rows are given");
    require(order.size() <= kMaxRows, "too many rows: at most 2^30 - 1");
    require(std::ranges::all_of(order, [&](Row row) { return row < x_rows; }),
            "a row index is outside X");
}

void check_sampling(const FitRows& rows, const Sampling& sampling) {
    require(rows.ids.empty() || rows.ids.size() == rows.order.size(), "ids require one per row");
    require(rows.n_labeled > 0 && rows.n_labeled < rows.order.size(),
            "both labeled and unlabeled rows are required");
    require(rows.n_confirmed < rows.order.size() - rows.n_labeled,
            "unlabeled rows that were not found positive are required");
    if (sampling.n_folds > 0) {
        require(!sampling.together, "rows are sampled by group if there are folds");
        require(sampling.n_samples % sampling.n_folds == 0,
                "n_samples must be a multiple of n_folds");
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

void mark_sampled(std::uint64_t first_id, std::span<const SampledFraction> samples,
                  std::span<std::uint8_t> marks, std::uint32_t n_threads, const Poll& poll) {
    constexpr std::size_t kBlock = 1 << 16;
    run_tasks((marks.size() + kBlock - 1) / kBlock, n_threads,
              [&](std::size_t block, const StopFlag&) {
                  const std::size_t begin = block * kBlock,
                                    end = std::min(begin + kBlock, marks.size());
                  for (const SampledFraction& sample : samples) {
                      const std::uint64_t key = sample_key(sample.seed, sample.number);
                      const std::uint64_t limit = hash_limit(sample.fraction);
                      for (std::size_t i = begin; i < end; ++i) {
                          marks[i] |= derive(key, first_id + i) <= limit;
                      }
                  }
              },
              poll);
}

Sample draw_sample(const TrainParams& params, std::size_t tree, const FitRows& rows) {
    const Sampling& sampling = params.sampling;
    const std::size_t number = sampling.n_samples > 0 ? tree % sampling.n_samples : tree;
    const std::uint64_t key = sample_key(sampling.seed.value_or(params.seed), number);
    const auto left_out =
        sampling.n_folds > 0 ? std::optional(tree % sampling.n_folds) : std::nullopt;
    const Drawing drawing(rows, key, left_out);
    const Row others = rows.others_begin();
    Sample sample;
    if (sampling.together) {
        drawing.with_replacement(0, rows.size(), rows.size(), sample.rows);
        // A tree needs all groups: if none of a group was drawn, draw the row that arrives first.
        for (const auto& [first, last] :
             {std::pair{Row{0}, rows.n_labeled}, {rows.n_labeled, others}, {others, rows.size()}}) {
            const auto begin = std::ranges::lower_bound(sample.rows, first);
            if (first == last || (begin != sample.rows.end() && *begin < last)) continue;
            std::vector<Row> earliest;
            drawing.without_replacement(first, last, 1, earliest);
            sample.rows.insert(begin, earliest[0]);
        }
    } else {
        const auto draw = [&](Row first, Row last, std::uint32_t draws) {
            const std::uint32_t available = drawing.available(first, last);
            if (draws > available && rows.complete < 1 && first == others) throw IncompleteSample();
            if (sampling.n_folds > 0) draws = std::min(draws, available);
            if (draws == 0) return;
            if (sampling.replace) {
                drawing.with_replacement(first, last, draws, sample.rows);
            } else {
                drawing.without_replacement(first, last, draws, sample.rows);
            }
        };
        draw(0, rows.n_labeled, sampling.labeled);
        draw(rows.n_labeled, others, sampling.confirmed);
        draw(others, rows.size(), sampling.unlabeled);
    }
    if (rows.complete < 1) {
        const std::uint64_t limit = hash_limit(rows.complete);
        const auto is_left_out = [&](Row row) { return derive(key, rows.id(row)) > limit; };
        const auto first = std::ranges::lower_bound(sample.rows, others);
        if (std::any_of(first, sample.rows.end(), is_left_out)) throw IncompleteSample();
    }
    const auto count_below = [&](Row row) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(sample.rows, row) -
                                          sample.rows.begin());
    };
    sample.n_labeled = count_below(rows.n_labeled);
    sample.n_confirmed = count_below(others) - sample.n_labeled;
    return sample;
}

}  // namespace puforest
