#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"

namespace moe {

/// Equation in compute.hpp. The residual table of the path scales core and projections alike.
/// Tested: tests/analytic/attention.cpp.
KernelCost mla_module(const GpuSpec& gpu, const MlaModulePath& path, const AttentionShape& shape,
                      double reuse_bytes) {
  KernelCost cost = decode_attention(gpu, path, shape, reuse_bytes);
  if (shape.sequences <= 0 || shape.heads <= 0) return cost;
  const ReadRate rate = read_rate(gpu, path.weight_eff, path.l2_tbps, reuse_bytes);
  const double weight_bytes = path.weight_bytes_shared + shape.heads * path.weight_bytes_per_head;
  const double flop = 2 * shape.sequences * shape.queries * (path.weights_shared + shape.heads * path.weights_per_head);
  const double memory_us = weight_bytes * rate.mixed_us, compute_us = path.c_us_per_GFLOP * flop * 1e-9;
  cost.compute = path.compute;
  cost.memory_us += memory_us;
  cost.compute_us += compute_us;
  cost.time_us += cost.factor * smax(memory_us, compute_us, path.p);
  cost.dram_bytes += weight_bytes * rate.miss;
  cost.flop += flop;
  return cost;
}

}  // namespace moe
