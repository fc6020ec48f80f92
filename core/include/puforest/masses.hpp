// Statistics of a set of rows: counts, or sums of row weights.
//
// Split search needs three sums over the rows of a side: the positive weights of labeled rows, the
// weights of labeled rows and the weights of unlabeled rows. If weights are constant within each
// group, all three are integer counts (Counts), exact and fast; otherwise they are sums of doubles
// (Sums). If some unlabeled rows were checked, those found positive are a third group, and weights
// can be zero (CheckedSums). All have the same interface, so that the code that uses them is
// written once.
#pragma once

#include <cstdint>

#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Weights by row position, or null pointers if all weights are one.
struct RowWeights {
    // Labeled rows: weight as a sample of the positives. With checked rows, unlabeled rows have a
    // value too: above 0 if they were found positive, else 0.
    const double* positive = nullptr;
    const double* sample = nullptr;  // all rows: sample weight
    bool checked = false;            // some rows were checked

    bool uniform() const { return sample == nullptr; }
};

// From sums to masses: W_p = p * positive + confirmed_p * confirmed,
// W_u = l * labeled + u * unlabeled + confirmed_u * confirmed.
struct MassFactors {
    double p;
    double l;
    double u;
    double confirmed_p = 0;
    double confirmed_u = 0;
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

// A sum of weights that may be zero. Without positive terms it is exactly zero, for the same reason
// as in Sums.
struct WeightSum {
    double value = 0;
    std::uint32_t terms = 0;  // positive ones

    void add(double weight) {
        value += weight;
        terms += weight > 0;
    }
    WeightSum& operator+=(const WeightSum& other) {
        value += other.value;
        terms += other.terms;
        return *this;
    }
    WeightSum rest(const WeightSum& part) const {
        if (terms == part.terms) return {};
        return {value - part.value, terms - part.terms};
    }
    // The factor that turns the sum into a mass.
    double factor(double mass) const { return terms > 0 ? mass / value : 0; }
};

struct CheckedSums {
    Counts count;
    WeightSum positive;
    WeightSum labeled;
    WeightSum unlabeled;  // not found positive
    WeightSum confirmed;  // found positive

    void add(Row row, bool is_labeled, const RowWeights& w) {
        count.add(row, is_labeled, w);
        if (is_labeled) {
            positive.add(w.positive[row]);
            labeled.add(w.sample[row]);
        } else {
            (w.positive[row] > 0 ? confirmed : unlabeled).add(w.sample[row]);
        }
    }
    CheckedSums& operator+=(const CheckedSums& other) {
        count += other.count;
        positive += other.positive;
        labeled += other.labeled;
        unlabeled += other.unlabeled;
        confirmed += other.confirmed;
        return *this;
    }
    CheckedSums rest(const CheckedSums& part) const {
        return {count.rest(part.count), positive.rest(part.positive), labeled.rest(part.labeled),
                unlabeled.rest(part.unlabeled), confirmed.rest(part.confirmed)};
    }
    std::uint32_t rows() const { return count.rows(); }
    const Counts& counts() const { return count; }
    NodeMasses masses(const MassFactors& f) const {
        return {f.p * positive.value + f.confirmed_p * confirmed.value,
                f.l * labeled.value + f.u * unlabeled.value + f.confirmed_u * confirmed.value};
    }
    MassFactors factors(const GroupMasses& m) const {
        return {positive.factor(m.labeled_p), labeled.factor(m.labeled_u),
                unlabeled.factor(m.unlabeled_u), confirmed.factor(m.confirmed_p),
                confirmed.factor(m.confirmed_u)};
    }
};

}  // namespace puforest
