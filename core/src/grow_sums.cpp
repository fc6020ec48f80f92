#include "grow.hpp"

namespace puforest {

template PackedTree<Sums> grow_tree<Sums>(const Growth&, std::uint32_t, const StopFlag&);

}  // namespace puforest
