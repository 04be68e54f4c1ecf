// How long does an engine's own all-reduce kernel take?
//
// Example: one-shot over 8 GPUs, t0 = 7.4 us, R = 23 GB/s: 14336 B take 7.4 + 7 x 14336 / 23e3 = 11.8 us.
#pragma once
#include "cost/collective.hpp"

namespace moe {

/// One-shot: every rank reads all the others' buffers.  T = t0 + (n-1) S / R   [us]
double one_shot_us(const CollectivePolicy& policy, int ranks, double bytes);
/// Two-shot: reduce-scatter by reads, a barrier, all-gather by reads.  T = t0 + t1 + 2 (n-1)/n S / R   [us]
/// Defined, not validated.
double two_shot_us(const CollectivePolicy& policy, int ranks, double bytes);

}  // namespace moe
