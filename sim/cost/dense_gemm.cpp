#include "base/check.hpp"
#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"

namespace moe {
namespace {

/// The first regime that reaches m; beyond the last one, the last (the cost then says out of range).
const GemmRegime& regime_for(const DenseGemmPath& path, double m) {
  MOE_CHECK(!path.regimes.empty(), "a dense GEMM path has at least one regime");
  for (const GemmRegime& r : path.regimes)
    if (m <= r.m_max) return r;
  return path.regimes.back();
}

/// Ways in which K is split: as many as fill the SMs, at most split_k_max, and at least 256 elements each.
double split_k(const GpuSpec& gpu, const DenseGemmPath& path, double tiles, double k) {
  if (k < path.split_k_min_k) return 1;
  const double fill = std::min<double>(path.split_k_max, std::floor(gpu.sm / tiles));
  return std::min(std::max(1.0, fill), std::max(1.0, std::floor(k / 256)));
}

}  // namespace

/// Equation in compute.hpp. flop = 2 m n k; dram_bytes = the weights that L2 does not hold (activations stay in L2).
/// Tested: tests/analytic/dense_gemm.cpp, tests/validation/kernel_vectors.cpp.
KernelCost dense_gemm(const GpuSpec& gpu, const DenseGemmPath& path, double m, double n, double k,
                      double reuse_bytes) {
  KernelCost cost;
  cost.compute = path.compute;
  cost.spread = spread_of(path.quality, m);
  if (m <= 0) return cost;  // an idle rank launches nothing
  const GemmRegime& regime = regime_for(path, m);
  const double tiles = std::ceil(m / regime.bm) * std::ceil(n / regime.bn);
  const double splits = split_k(gpu, path, tiles, k);
  const ReadRate rate = read_rate(gpu, path.dram_eff, path.l2_tbps, reuse_bytes);
  const double weight_bytes = n * k * path.bytes_per_weight;

  cost.waves = tiles * splits / gpu.sm;
  cost.launch_us = path.t0_us + path.cq_us_per_Melem * m * k * 1e-6;
  cost.memory_us = weight_bytes * rate.mixed_us + 2 * m * (k + n) * rate.l2_us;
  cost.compute_us = wave(cost.waves, path.wave_quant) * (k / splits * regime.tau_ns * 1e-3 + path.eps_us);
  if (!path.residuals.empty()) cost.factor = path.residuals.factor({axis(m), axis(n), axis(k), 1 - rate.miss});
  cost.time_us = cost.factor * (cost.launch_us + smax(cost.memory_us, cost.compute_us, path.p));
  cost.dram_bytes = weight_bytes * rate.miss;
  cost.flop = 2 * m * n * k;
  cost.in_range = m <= path.regimes.back().m_max && within(path.quality, "m", m) && within(path.quality, "n", n) &&
                  within(path.quality, "k", k);
  return cost;
}

}  // namespace moe
