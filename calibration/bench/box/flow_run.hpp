// Transfers by copy engine that all start at one moment: how long until the last has ended?
//
//   Timing t = time_flows(gpus, {{0, 1}, {1, 0}});   // both directions at once
//   t.us: for 64 MiB on every flow
#pragma once
#include <vector>

#include "comm/gpu_group.hpp"
#include "harness/timing.hpp"

namespace moe::bench {

constexpr int kHost = -1;
constexpr std::size_t kFlowBytes = std::size_t{64} << 20;

struct Flow {
  int from = 0, to = 0;  ///< GPUs, in the direction of the data; kHost: pinned host memory
};

/// `reads`: the receiver's copy engine fetches, instead of the sender's writing. Every flow repeats its 64 MiB until the
/// whole takes some milliseconds, so that starting does not count.
Timing time_flows(const GpuGroup& gpus, const std::vector<Flow>& flows, bool reads = false);

}  // namespace moe::bench
