#include "grow.hpp"

namespace puforest {

template PackedTree<CheckedSums> grow_tree<CheckedSums>(const Growth&, Start, const StopFlag&);

}  // namespace puforest
