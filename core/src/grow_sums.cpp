#include "grow.hpp"

namespace puforest {

template Tree grow_tree<Sums>(const Growth&, std::uint32_t, const StopFlag&);

}  // namespace puforest
