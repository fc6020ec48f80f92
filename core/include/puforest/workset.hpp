// Where the codes of a node's rows are read from: all rows of the fit, or a compact copy of
// those of a subtree.
//
// A node of m out of n rows reads a column in gaps, and every cache line of it comes from far
// away: for a middling node the time goes by n, not by m. Once a node is several times smaller
// than what it reads from, its rows are copied out of Columns::by_row into columns of their own,
// for its whole subtree, and named by their positions in the copy from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "puforest/columns.hpp"
#include "puforest/masses.hpp"
#include "puforest/memory.hpp"
#include "puforest/types.hpp"

namespace puforest {

// The rows of a node, labeled ones first, as positions in a workset.
struct NodeRows {
    std::span<Row> labeled;
    std::span<Row> unlabeled;

    std::size_t size() const { return labeled.size() + unlabeled.size(); }
};

class Workset {
public:
    // All rows of a fit, until some are copied. `distinct`: no node has a row twice.
    Workset(const Columns& columns, const RowWeights& weights, bool distinct)
        : columns_(&columns),
          all_weights_(weights),
          weights_(weights),
          distinct_(distinct),
          unlabeled_begin_(columns.n_labeled),
          extent_(columns.n_rows) {}
    Workset(const Workset&) = delete;
    Workset& operator=(const Workset&) = delete;

    // Copy these rows of `source`, and rename them to their positions in the copy. Memory is
    // kept for the next time. Where it throws, the rows may be renamed in part; the set can be
    // copied to again, but not read before.
    void copy(const Workset& source, const NodeRows& rows);

    // Whether a node of n of these rows had better read from a copy.
    bool worth_copying(std::size_t n) const {
        return extent_ > kSmall && n >= kFewest && n <= most_to_copy();
    }

    // Labeled rows are at positions before `unlabeled_begin`, unlabeled ones at positions
    // from there to `extent`. Not every position need have a row.
    std::size_t unlabeled_begin() const { return unlabeled_begin_; }
    std::size_t extent() const { return extent_; }

    // Whether the rows of any node stand at positions of their own.
    bool distinct() const { return distinct_; }

    // By position.
    const RowWeights& weights() const { return weights_; }

    // Call `use(const CodeType*)` with the codes of a column that varies, by position.
    template <class Use>
    decltype(auto) visit(FeatureId feature, Use&& use) const {
        const Column& column = columns_->column[feature];
        return column.visit(codes_of(column), use);
    }

    // Ask for the first codes of a column; from there on the processor guesses what comes.
    void prefetch(FeatureId feature) const {
        constexpr std::size_t kMost = 1024;
        const Column& column = columns_->column[feature];
        const std::byte* const codes = codes_of(column);
        const std::size_t bytes = std::min(extent_ * column.width(), kMost);
        for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(codes + at);
    }

private:
    // Found by trial on MNIST; half or twice as much makes little difference. Sets of a few
    // vectors a column are read faster than copied, and so are a few rows of any set.
    static constexpr std::size_t kShrinkage = 8;
    static constexpr std::size_t kSmall = 1024;
    static constexpr std::size_t kFewest = 32;

    std::size_t most_to_copy() const { return extent_ / kShrinkage; }

    const std::byte* codes_of(const Column& column) const {
        return memory_ ? memory_.get() + column.offset() * stride_ : column.codes();
    }

    const Columns* columns_;
    const RowWeights all_weights_;  // by row of the fit
    RowWeights weights_;
    bool distinct_;
    std::size_t unlabeled_begin_;
    std::size_t extent_;
    std::size_t stride_ = 0;     // a column of bytes takes this many
    Memory memory_;              // column j at column[j].offset() * stride_; none: all rows
    std::size_t capacity_ = 0;   // of memory_
    std::vector<Row> original_;  // the rows of the fit that stand here; empty: all rows
    std::vector<double> positive_, sample_;
};

// The sets of a tree, one within another. The first one holds all rows.
using Worksets = std::vector<std::unique_ptr<Workset>>;

// Keeps the memory of one tree's sets for the next tree.
class WorksetPool {
public:
    WorksetPool(const Columns& columns, const RowWeights& weights, bool distinct,
                unsigned n_threads)
        : columns_(columns),
          weights_(weights),
          distinct_(distinct),
          most_rows_(most_bytes(columns, n_threads) / std::max<std::size_t>(1, columns.row_bytes)) {
        unused_.reserve(std::max(1u, n_threads));
    }

    bool worth_copying(const Workset& from, std::size_t n) const {
        return n <= most_rows_ && from.worth_copying(n);
    }

    // At least the set of all rows.
    Worksets take() {
        const std::lock_guard lock(mutex_);
        Worksets sets;
        if (unused_.empty()) {
            add(sets);
        } else {
            sets = std::move(unused_.back());
            unused_.pop_back();
        }
        return sets;
    }

    // Destructors call this: it must not allocate. There is room for the sets of all threads.
    void give_back(Worksets sets) noexcept {
        const std::lock_guard lock(mutex_);
        if (unused_.size() < unused_.capacity()) unused_.push_back(std::move(sets));
    }

    void add(Worksets& sets) const {
        sets.push_back(std::make_unique<Workset>(columns_, weights_, distinct_));
    }

private:
    // The largest copy to make: a cache full, and for large data such that the copies of all
    // threads together stay small beside it.
    static std::size_t most_bytes(const Columns& columns, unsigned n_threads) {
        constexpr std::size_t kCache = std::size_t{16} << 20;
        return std::max(kCache, columns.row_bytes * columns.n_rows / (4 * std::max(1u, n_threads)));
    }

    const Columns& columns_;
    const RowWeights weights_;
    const bool distinct_;
    const std::size_t most_rows_;
    std::mutex mutex_;
    std::vector<Worksets> unused_;
};

}  // namespace puforest
