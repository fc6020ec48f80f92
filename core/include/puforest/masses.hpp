// What a set of rows weighs: counts, or sums of row weights.
//
// Split search needs three sums over the rows of a side: the labelled rows' positive weights,
// the labelled rows' weights and the unlabelled rows' weights. With constant weights in each
// group all three are integer counts (Counts), exact and fast; otherwise they are sums of
// doubles (Sums). Both offer the same operations, so everything above is written once.
#pragma once

#include <cstdint>

#include "puforest/params.hpp"
#include "puforest/types.hpp"

namespace puforest {

// Per-row weights by row position, or null pointers for weights of one.
struct RowWeights {
    const double* positive = nullptr;  // labelled rows: sample weight / propensity
    const double* sample = nullptr;    // all rows: sample weight

    bool uniform() const { return sample == nullptr; }
};

// From sums to masses: W_p = p * positive, W_u = l * labelled + u * unlabelled.
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
    std::uint32_t labelled = 0;
    std::uint32_t unlabelled = 0;

    void add(Row, bool is_labelled, const RowWeights&) {
        labelled += is_labelled;
        unlabelled += !is_labelled;
    }
    Counts& operator+=(const Counts& other) {
        labelled += other.labelled;
        unlabelled += other.unlabelled;
        return *this;
    }
    // The rest of a whole, given one part of it.
    Counts rest(const Counts& part) const {
        return {labelled - part.labelled, unlabelled - part.unlabelled};
    }
    std::uint32_t rows() const { return labelled + unlabelled; }
    const Counts& counts() const { return *this; }
    NodeMasses masses(const MassFactors& f) const {
        return {f.p * labelled, f.l * labelled + f.u * unlabelled};
    }
    MassFactors factors(const GroupMasses& m) const {
        return {m.labelled_p / labelled, m.labelled_u / labelled, m.unlabelled_u / unlabelled};
    }
};

struct Sums {
    Counts count;
    double positive = 0;
    double labelled = 0;
    double unlabelled = 0;

    void add(Row row, bool is_labelled, const RowWeights& w) {
        count.add(row, is_labelled, w);
        if (is_labelled) {
            positive += w.positive[row];
            labelled += w.sample[row];
        } else {
            unlabelled += w.sample[row];
        }
    }
    Sums& operator+=(const Sums& other) {
        count += other.count;
        positive += other.positive;
        labelled += other.labelled;
        unlabelled += other.unlabelled;
        return *this;
    }
    // A group without rows weighs exactly nothing: the residue of the subtraction, however
    // small, would look like mass to the uPU risk, which is -inf for the wrong sign of W_n.
    Sums rest(const Sums& part) const {
        Sums r;
        r.count = count.rest(part.count);
        if (r.count.labelled > 0) {
            r.positive = positive - part.positive;
            r.labelled = labelled - part.labelled;
        }
        if (r.count.unlabelled > 0) r.unlabelled = unlabelled - part.unlabelled;
        return r;
    }
    std::uint32_t rows() const { return count.rows(); }
    const Counts& counts() const { return count; }
    NodeMasses masses(const MassFactors& f) const {
        return {f.p * positive, f.l * labelled + f.u * unlabelled};
    }
    MassFactors factors(const GroupMasses& m) const {
        return {m.labelled_p / positive, m.labelled_u / labelled, m.unlabelled_u / unlabelled};
    }
};

}  // namespace puforest
