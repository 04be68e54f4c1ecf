#include "base/check.hpp"
#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"

namespace moe {
namespace {

/// Ways in which K is split: as many as fill the SMs, at most split_k_max, and at least 256 elements each.
double split_k(const GpuSpec& gpu, const DenseGemmPath& path, double tiles, double k) {
  if (k < path.split_k_min_k) return 1;
  const double fill = std::min<double>(path.split_k_max, std::floor(gpu.sm / tiles));
  return std::min(std::max(1.0, fill), std::max(1.0, std::floor(k / 256)));
}

}  // namespace

/// Regimes with the same m_max are alternatives, and so are whole and split K: the library takes the quickest. Beyond the
/// last regime, the last (the cost then says out of range). Tested: tests/analytic/dense_gemm.cpp.
GemmTile gemm_tile(const GpuSpec& gpu, const DenseGemmPath& path, double m, double n, double k) {
  MOE_CHECK(!path.regimes.empty(), "a dense GEMM path has at least one regime");
  auto r = path.regimes.begin();
  while (m > r->m_max && r->m_max < path.regimes.back().m_max) ++r;
  GemmTile best;
  for (const int m_max = r->m_max; r != path.regimes.end() && r->m_max == m_max; ++r) {
    GemmTile t;
    t.bm = r->bm;
    t.bn = r->bn;
    t.tiles = std::ceil(m / r->bm) * std::ceil(n / r->bn);
    for (const double splits : {1.0, split_k(gpu, path, t.tiles, k)}) {
      t.splits = splits;
      t.waves = t.tiles * t.splits / gpu.sm;
      t.time_us = wave(t.waves, path.wave_quant) * (k / t.splits * r->tau_ns * 1e-3 + path.eps_us);
      if (t.splits > 1) t.time_us += path.split_us;
      if (best.bm == 0 || t.time_us < best.time_us) best = t;
    }
  }
  return best;
}

/// Equation in compute.hpp. flop = 2 m n k; dram_bytes = the weights that L2 does not hold (activations stay in L2).
/// Tested: tests/analytic/dense_gemm.cpp, tests/validation/kernel_vectors.cpp.
KernelCost dense_gemm(const GpuSpec& gpu, const DenseGemmPath& path, double m, double n, double k,
                      double reuse_bytes) {
  KernelCost cost;
  cost.compute = path.compute;
  cost.spread = spread_of(path.quality, m);
  if (m <= 0) return cost;  // an idle rank launches nothing
  const GemmTile tile = gemm_tile(gpu, path, m, n, k);
  const ReadRate rate = read_rate(gpu, path.dram_eff, path.l2_tbps, reuse_bytes);
  const double weight_bytes = n * k * path.bytes_per_weight;

  cost.waves = tile.waves;
  cost.launch_us = path.t0_us + path.cq_us_per_Melem * m * k * 1e-6;
  cost.memory_us = weight_bytes * rate.mixed_us + 2 * m * (k + n) * rate.l2_us;
  cost.compute_us = tile.time_us;
  if (!path.residuals.empty()) cost.factor = path.residuals.factor({axis(m), axis(n), axis(k), 1 - rate.miss});
  cost.time_us = cost.factor * (cost.launch_us + smax(cost.memory_us, cost.compute_us, path.p));
  cost.dram_bytes = weight_bytes * rate.miss;
  cost.flop = 2 * m * n * k;
  cost.in_range = m <= path.regimes.back().m_max && within(path.quality, "m", m) && within(path.quality, "n", n) &&
                  within(path.quality, "k", k);
  return cost;
}

}  // namespace moe
