// Statistics of a set of rows: counts, or sums of row weights.
//
// Split search needs three sums over the rows of a side: the positive weights of labeled rows, the
// weights of labeled rows and the weights of unlabeled rows. If weights are constant within each
// group, all three are integer counts (Counts), exact and fast; otherwise they are sums of doubles
// (Sums). Both have the same interface, so that the code that uses them is written once.
#pragma once

#include <cstdint>

#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Weights by row position, or null pointers if all weights are one.
struct RowWeights {
    const double* positive = nullptr;  // labeled rows: sample weight / propensity
    const double* sample = nullptr;    // all rows: sample weight

    bool uniform() const { return sample == nullptr; }
};

// From sums to masses: W_p = p * positive, W_u = l * labeled + u * unlabeled.
struct MassFactors {
    double p;
    double l;
    double u;
};

struct NodeMasses {
    double w_p;
    double w_u;
};

struct Counts {
    std::uint32_t labeled = 0;
    std::uint32_t unlabeled = 0;

    void add(Row, bool is_labeled, const RowWeights&) {
        labeled += is_labeled;
        unlabeled += !is_labeled;
    }
    Counts& operator+=(const Counts& other) {
        labeled += other.labeled;
        unlabeled += other.unlabeled;
        return *this;
    }
    // Statistics of the other rows, given those of a part.
    Counts rest(const Counts& part) const {
        return {labeled - part.labeled, unlabeled - part.unlabeled};
    }
    std::uint32_t rows() const { return labeled + unlabeled; }
    const Counts& counts() const { return *this; }
    NodeMasses masses(const MassFactors& f) const {
        return {f.p * labeled, f.l * labeled + f.u * unlabeled};
    }
    MassFactors factors(const GroupMasses& m) const {
        return {m.labeled_p / labeled, m.labeled_u / labeled, m.unlabeled_u / unlabeled};
    }
};

struct Sums {
    Counts count;
    double positive = 0;
    double labeled = 0;
    double unlabeled = 0;

    void add(Row row, bool is_labeled, const RowWeights& w) {
        count.add(row, is_labeled, w);
        if (is_labeled) {
            positive += w.positive[row];
            labeled += w.sample[row];
        } else {
            unlabeled += w.sample[row];
        }
    }
    Sums& operator+=(const Sums& other) {
        count += other.count;
        positive += other.positive;
        labeled += other.labeled;
        unlabeled += other.unlabeled;
        return *this;
    }
    // A group without rows has mass exactly zero: the rounding error of the subtraction, however
    // small, would make the uPU risk -inf if it had the wrong sign.
    Sums rest(const Sums& part) const {
        Sums r;
        r.count = count.rest(part.count);
        if (r.count.labeled > 0) {
            r.positive = positive - part.positive;
            r.labeled = labeled - part.labeled;
        }
        if (r.count.unlabeled > 0) r.unlabeled = unlabeled - part.unlabeled;
        return r;
    }
    std::uint32_t rows() const { return count.rows(); }
    const Counts& counts() const { return count; }
    NodeMasses masses(const MassFactors& f) const {
        return {f.p * positive, f.l * labeled + f.u * unlabeled};
    }
    MassFactors factors(const GroupMasses& m) const {
        return {m.labeled_p / positive, m.labeled_u / labeled, m.unlabeled_u / unlabeled};
    }
};

}  // namespace puforest
