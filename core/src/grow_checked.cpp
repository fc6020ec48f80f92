#include "grow.hpp"

namespace puforest {

template PackedTree<CheckedSums> grow_tree<CheckedSums>(const Growth&, std::uint32_t,
                                                        const StopFlag&);

}  // namespace puforest
