// The set of rows that a node reads codes from: all rows of the fit, or a compact copy of the rows
// of a subtree.
//
// A node with m of n rows reads scattered codes of a column, and every cache line comes from main
// memory: the time of a medium-sized node is proportional to n, not m. Once a node is several times
// smaller than the set it reads from, its rows are copied from Columns::by_row into columns of
// their own for its whole subtree, and renumbered by their positions in the copy.
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
    // All rows of a fit, until some are copied. `distinct`: no node has duplicate rows.
    Workset(const Columns& columns, const RowWeights& weights, bool distinct)
        : columns_(&columns),
          all_weights_(weights),
          weights_(weights),
          distinct_(distinct),
          unlabeled_begin_(columns.n_labeled),
          extent_(columns.n_rows) {}
    Workset(const Workset&) = delete;
    Workset& operator=(const Workset&) = delete;

    // Copy these rows of `source`, and renumber them by their positions in the copy. Memory is
    // reused. If it throws, some rows may be renumbered; the set must not be read before another
    // copy succeeds.
    void copy(const Workset& source, const NodeRows& rows);

    // Whether copying n of these rows for a node pays off.
    bool worth_copying(std::size_t n) const {
        return extent_ > kSmall && n >= kFewest && n <= most_to_copy();
    }

    // Labeled rows are at positions before `unlabeled_begin`, unlabeled ones between
    // `unlabeled_begin` and `extent`. Some positions may have no row.
    std::size_t unlabeled_begin() const { return unlabeled_begin_; }
    std::size_t extent() const { return extent_; }

    // Whether all rows of every node are at distinct positions.
    bool distinct() const { return distinct_; }

    // By position.
    const RowWeights& weights() const { return weights_; }

    // Call `use` with the codes of a column that varies, by position; see Column.
    template <class Use>
    decltype(auto) visit(FeatureId feature, Use&& use) const {
        const Column& column = columns_->column[feature];
        return column.visit(
            [this](const std::byte* codes, std::uint32_t offset) { return place(codes, offset); },
            use);
    }

    // Prefetch the first codes of a column; the hardware prefetcher continues from there.
    void prefetch(FeatureId feature) const {
        constexpr std::size_t kMost = 1024;
        const Column& column = columns_->column[feature];
        const std::byte* const codes = place(column.codes(), column.offset());
        const std::size_t bytes = std::min(extent_ * column.width(), kMost);
        for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(codes + at);
    }

private:
    // Tuned on MNIST; half or twice as much makes little difference. Sets with a few vectors per
    // column are faster to read than to copy, and so are a few rows of any set.
    static constexpr std::size_t kShrinkage = 8;
    static constexpr std::size_t kSmall = 1024;
    static constexpr std::size_t kFewest = 32;

    std::size_t most_to_copy() const { return extent_ / kShrinkage; }

    // The copy of the bytes with this offset in a row, or those of all rows if there is none.
    const std::byte* place(const std::byte* of_all_rows, std::uint32_t offset) const {
        return memory_ ? memory_.get() + offset * stride_ : of_all_rows;
    }

    const Columns* columns_;
    const RowWeights all_weights_;  // by row of the fit
    RowWeights weights_;
    bool distinct_;
    std::size_t unlabeled_begin_;
    std::size_t extent_;
    std::size_t stride_ = 0;     // size of a byte column
    Memory memory_;              // bytes at an offset of rows at offset * stride_; null: all rows
    std::size_t capacity_ = 0;   // of memory_
    std::vector<Row> original_;  // rows of the fit by position; empty: all rows
    std::vector<double> positive_, sample_;
};

// The nested sets of a tree. The first one has all rows.
using Worksets = std::vector<std::unique_ptr<Workset>>;

// Reuses the memory of the sets of a tree for the next tree.
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

    // Sets for a tree, at least that of all rows.
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

    // Called by destructors, so it must not allocate: there is room for the sets of all threads.
    void give_back(Worksets sets) noexcept {
        const std::lock_guard lock(mutex_);
        if (unused_.size() < unused_.capacity()) unused_.push_back(std::move(sets));
    }

    void add(Worksets& sets) const {
        sets.push_back(std::make_unique<Workset>(columns_, weights_, distinct_));
    }

private:
    // Maximum size of a copy: the size of a cache or, for large data, a fraction of it that keeps
    // the copies of all threads together small.
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
