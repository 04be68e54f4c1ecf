// Our all-reduces, and the graph per GPU that times collectives: on two GPUs where there are two, otherwise with both
// ranks on one GPU.
#include <cmath>

#include "comm/collectives.hpp"
#include "comm/group_graph.hpp"
#include "harness/check.hpp"
#include "verify/checks.hpp"

namespace moe::bench {
namespace {

GpuGroup two_ranks() {
  int current = 0;
  BENCH_CHECK(cudaGetDevice(&current));
  return GpuGroup(device_count() > 1 ? std::vector<int>{0, 1} : std::vector<int>{current, current});
}

/// Compares bit by bit; throws on the first difference.
double exact(OwnShape shape) {
  const GpuGroup gpus = two_ranks();
  OwnAllReduce ours(gpus, {0, 1});
  verify_own_all_reduce(gpus, ours, shape);
  return 0;
}

/// Kernels that wait for the other rank at the start line and for nothing else: 0 when the time of one is that of a
/// short kernel, NaN when events in the graph give none.
double timed() {
  const GpuGroup gpus = two_ranks();
  StartLine start(gpus);
  const Timing t = time_group(gpus, start, 10, [&](int) { start.wait(gpus); });
  constexpr double kMostUs = 50;
  return t.us > 0 && t.us < kMostUs ? 0 : NAN;
}

}  // namespace

std::vector<Check> comm_checks(bool) {
  return {{"one-shot all-reduce, two ranks", 0, [](cudaStream_t) { return exact(OwnShape::one_shot); }},
          {"two-shot all-reduce, two ranks", 0, [](cudaStream_t) { return exact(OwnShape::two_shot); }},
          {"start line and events in a graph per GPU", 0, [](cudaStream_t) { return timed(); }}};
}

}  // namespace moe::bench
