#include "grow.hpp"

namespace puforest {

template PackedTree<Sums> grow_tree<Sums>(const Growth&, Start, const StopFlag&);

}  // namespace puforest
