#include "grow.hpp"

namespace puforest {

template PackedTree<Counts> grow_tree<Counts>(const Growth&, Start, const StopFlag&);

}  // namespace puforest
