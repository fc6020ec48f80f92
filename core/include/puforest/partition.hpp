// Partition of the rows of a node between its children.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "puforest/types.hpp"
#include "puforest/workset.hpp"

namespace puforest {

class Partition {
public:
    // Rows keep their order on both sides, so that the children read memory in ascending order.
    std::pair<NodeRows, NodeRows> apply(const Workset& set, const NodeRows& rows, FeatureId feature,
                                        Code code) {
        return set.visit(feature, [&](const auto* codes) {
            const auto [left_l, right_l] = divide(rows.labeled, codes, code);
            const auto [left_u, right_u] = divide(rows.unlabeled, codes, code);
            return std::pair<NodeRows, NodeRows>{{left_l, left_u}, {right_l, right_u}};
        });
    }

private:
    template <class CodeType>
    std::pair<std::span<Row>, std::span<Row>> divide(std::span<Row> rows, const CodeType* codes,
                                                     Code code) {
        if (right_.size() < rows.size()) right_.resize(rows.size());
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        // Always store to both sides and advance one: no branch to mispredict.
        for (const Row row : rows) {
            const bool goes_left = codes[row] <= code;
            rows[n_left] = row;
            right_[n_right] = row;
            n_left += goes_left;
            n_right += !goes_left;
        }
        std::copy_n(right_.begin(), n_right, rows.begin() + static_cast<std::ptrdiff_t>(n_left));
        return {rows.first(n_left), rows.subspan(n_left)};
    }

    std::vector<Row> right_;
};

}  // namespace puforest
