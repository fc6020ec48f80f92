// Growing one tree, for any risk.
//
// Compiled in a separate file for each kind of row statistics, in parallel.
#pragma once

#include <utility>

#include "puforest/builder.hpp"
#include "puforest/masses.hpp"
#include "with_risk.hpp"

namespace puforest {

template <class Stats>
PackedTree<Stats> grow_tree(const Growth& growth, Start start, const StopFlag& stop) {
    return with_risk(growth.params, [&]<class Risk>(std::type_identity<Risk>) {
        return Builder<Risk, Stats>(growth, std::move(start), stop).grow();
    });
}

extern template PackedTree<Counts> grow_tree<Counts>(const Growth&, Start, const StopFlag&);
extern template PackedTree<Sums> grow_tree<Sums>(const Growth&, Start, const StopFlag&);
extern template PackedTree<CheckedSums> grow_tree<CheckedSums>(const Growth&, Start,
                                                               const StopFlag&);

}  // namespace puforest
