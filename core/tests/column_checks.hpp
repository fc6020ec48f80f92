// Encoded columns compared with their definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/columns.hpp"

namespace puforest::testing {

// For Column::visit: all rows of the fit.
inline constexpr auto by_position = [](const std::byte* codes, std::uint32_t) { return codes; };

// Constant columns have no codes: they would all be 0.
inline std::vector<Code> codes_of(const Column& column, std::size_t n) {
    if (!column.varies()) return std::vector<Code>(n);
    return column.visit(by_position, [&](auto codes) {
        std::vector<Code> all(n);
        for (std::size_t i = 0; i < n; ++i) all[i] = codes[i];
        return all;
    });
}

inline Code code_by_row(const Columns& columns, std::size_t i, std::size_t j) {
    const auto in_row = [&](const std::byte*, std::uint32_t offset) {
        return &columns.by_row[i * columns.row_bytes + offset];
    };
    return columns.column[j].visit(in_row, [](auto codes) { return Code{codes[0]}; });
}

inline std::vector<Row> first_rows(std::size_t n) {
    std::vector<Row> order(n);
    std::iota(order.begin(), order.end(), Row{0});
    return order;
}

template <class Real>
Columns encode_one(const std::vector<Real>& values) {
    const std::size_t n = values.size();
    return encode(Matrix<Real>{values.data(), n, 1, 1, 1}, {first_rows(n), 1}, {}, 1, Poll{});
}

// By definition, a code is the rank of its value, and value(code) inverts it. The code of NaN is
// the one after the last.
template <class Real>
void check_ranks(const std::vector<Real>& values) {
    const auto is_missing = [](Real x) { return std::isnan(x); };
    std::vector<Real> distinct = values;
    std::erase_if(distinct, is_missing);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const bool has_missing = std::any_of(values.begin(), values.end(), is_missing);
    const std::size_t n_codes = distinct.size() + has_missing;

    const Columns columns = encode_one(values);
    const Column& column = columns.column[0];
    CHECK(column.size() == distinct.size());
    CHECK(column.has_missing() == has_missing && column.missing_code() == distinct.size());
    CHECK(column.varies() == (n_codes > 1) && columns.varies[0] == column.varies());
    CHECK(!column.categorical());
    if (column.varies()) {
        CHECK(column.width() == (distinct.size() <= 256 ? 1 : n_codes <= 65536 ? 2 : 4));
    } else {
        CHECK(column.width() == 0);
    }
    for (Code code = 0; code < column.size(); ++code) {
        CHECK(column.value(code) == static_cast<double>(distinct[code]));
    }
    const std::vector<Code> codes = codes_of(column, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = is_missing(values[i])
                            ? distinct.end()
                            : std::lower_bound(distinct.begin(), distinct.end(), values[i]);
        CHECK(codes[i] == static_cast<Code>(at - distinct.begin()));
    }
}

// Every value at least once, some repeated, in random order.
template <class Real>
std::vector<Real> repeat_and_shuffle(std::vector<Real> values, Rng& rng) {
    const std::size_t distinct = values.size();
    for (std::size_t i = 0; i < distinct / 2 + 3; ++i) {
        values.push_back(values[rng.below(distinct)]);
    }
    shuffle(std::span(values), rng);
    return values;
}

inline bool equal_codes(const Columns& a, const Columns& b) {
    const auto same_column = [&](const Column& s, const Column& t) {
        if (s.size() != t.size() || s.has_missing() != t.has_missing() ||
            codes_of(s, a.n_rows) != codes_of(t, b.n_rows))
            return false;
        for (Code code = 0; code < s.size(); ++code) {
            if (s.value(code) != t.value(code)) return false;
        }
        return true;
    };
    return a.n_rows == b.n_rows && a.n_labeled == b.n_labeled &&
           std::equal(a.column.begin(), a.column.end(), b.column.begin(), b.column.end(),
                      same_column);
}

// Columns of zero, one and two bytes per code, and more of them than are copied at a time.
template <class Real>
std::vector<Real> mixed_matrix(std::size_t rows, std::size_t cols) {
    Rng rng(3);
    std::vector<Real> x(rows * cols);
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double level = rng.uniform() - 0.5;
        x[k] = static_cast<Real>(k % cols % 3 == 0 ? std::round(level * 20) : level);
        if (k % cols == 7) x[k] = Real{4};
    }
    return x;
}

}  // namespace puforest::testing
