// Geometries of routed experts to measure: none of them is a published model's.
#pragma once
#include <vector>

#include "kernels/experts.hpp"

namespace moe::bench {

/// Of a whole layer: `intermediate` of a whole expert; a GPU has intermediate / tp of experts / ep.
struct ExpertGeometry {
  int hidden, intermediate, topk, experts, tp, ep;
};

struct MoePoint {
  Format format;
  ExpertGeometry g;
  int tokens;
  double alpha;  ///< 0: balanced
};

/// Sorted by format and geometry, so that weights are made once for their points.
std::vector<MoePoint> moe_points(bool quick);

}  // namespace moe::bench
