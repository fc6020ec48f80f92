#include "grow.hpp"

namespace puforest {

template PackedTree<Counts> grow_tree<Counts>(const Growth&, std::uint32_t, const StopFlag&);

}  // namespace puforest
