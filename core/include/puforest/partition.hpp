// Partition of the rows of a node between its children.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "puforest/choose.hpp"
#include "puforest/columns.hpp"
#include "puforest/compiler.hpp"
#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

class Partition {
public:
    // Rows keep their order on both sides, so that the children read memory in ascending order.
    std::pair<NodeRows, NodeRows> apply(const Workset& set, const NodeRows& rows,
                                        const Column& column, const Split& split) {
        return set.visit(split.feature, [&](auto codes) {
            if (!split.categories.empty()) return divide_categories(rows, codes, column, split);
            if (split.missing == MissingSide::Left) {
                return divide_with_missing(rows, codes, column, split);
            }
            return divide(rows, [codes, code = split.code](Row row) { return codes[row] <= code; });
        });
    }

private:
    template <class Codes>
    PUFOREST_RARE std::pair<NodeRows, NodeRows> divide_categories(const NodeRows& rows,
                                                                  const Codes& codes,
                                                                  const Column& column,
                                                                  const Split& split) {
        // Only the codes that occur at the node are set, and only those are read.
        if (goes_left_.size() <= column.size()) goes_left_.resize(column.size() + 1);
        for (std::size_t i = 0; i < split.categories.size(); ++i) {
            goes_left_[split.categories[i]] = i < split.n_left;
        }
        goes_left_[column.missing_code()] = split.missing == MissingSide::Left;
        return divide(rows, [&](Row row) { return goes_left_[codes[row]] != 0; });
    }

    // Missing values go left.
    template <class Codes>
    PUFOREST_RARE std::pair<NodeRows, NodeRows> divide_with_missing(const NodeRows& rows,
                                                                    const Codes& codes,
                                                                    const Column& column,
                                                                    const Split& split) {
        return divide(rows, [&, code = split.code, missing = column.missing_code()](Row row) {
            return (codes[row] <= code) | (codes[row] == missing);
        });
    }

    template <class GoesLeft>
    PUFOREST_INLINE std::pair<NodeRows, NodeRows> divide(const NodeRows& rows,
                                                         const GoesLeft& goes_left) {
        const auto [left_l, right_l] = divide(rows.labeled, goes_left);
        const auto [left_u, right_u] = divide(rows.unlabeled, goes_left);
        return {{left_l, left_u}, {right_l, right_u}};
    }

    template <class GoesLeft>
    PUFOREST_INLINE std::pair<std::span<Row>, std::span<Row>> divide(std::span<Row> rows,
                                                                     const GoesLeft& goes_left) {
        if (right_.size() < rows.size()) right_.resize(rows.size());
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        // Always store to both sides and advance one: no branch to mispredict.
        for (const Row row : rows) {
            const bool left = goes_left(row);
            rows[n_left] = row;
            right_[n_right] = row;
            n_left += left;
            n_right += !left;
        }
        std::copy_n(right_.data(), n_right, rows.data() + n_left);
        return {rows.first(n_left), rows.subspan(n_left)};
    }

    std::vector<Row> right_;
    std::vector<std::uint8_t> goes_left_;  // by code of a categorical feature
};

}  // namespace puforest
