#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"

namespace moe {

/// Equation in compute.hpp; what x and bytes count is said by the path (x_unit, bytes_of).
/// Tested: tests/analytic/elementwise.cpp.
KernelCost elementwise(const GpuSpec& gpu, const ElementwisePath& path, double x, double bytes, double reuse_bytes) {
  const ReadRate rate = read_rate(gpu, path.dram_eff, path.l2_tbps, reuse_bytes);
  KernelCost cost;
  cost.spread = spread_of(path.quality);
  cost.launch_us = path.t0_us;
  cost.memory_us = bytes * rate.mixed_us;
  cost.compute_us = path.c_us * x;
  if (!path.residuals.empty()) cost.factor = path.residuals.factor({axis(1e6 * x), axis(bytes), 1 - rate.miss});
  cost.time_us = cost.factor * (cost.launch_us + smax(cost.memory_us, cost.compute_us, path.p));
  cost.dram_bytes = bytes * rate.miss;
  cost.in_range = within(path.quality, "x", x) && within(path.quality, "bytes", bytes);
  return cost;
}

}  // namespace moe
