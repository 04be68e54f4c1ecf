#include "fit/path_fits.hpp"

namespace moe {
namespace {

constexpr int kEdges[] = {1,  2,  4,   8,   16,  32, 48,
                          64, 96, 128, 192, 256, 512};  ///< m up to which a regime goes
constexpr std::size_t kSearchRows = 700, kFinalRows = 2500;
using Knobs = std::vector<Knob<DenseGemmPath>>;

/// Time of a bm x bn tile per element of K at the tensor cores' peak, ns.
double peak_tau_ns(const GpuSpec& gpu, ComputeType type, int bm, int bn) {
  const double peak = peak_flops(gpu, type) > 0 ? peak_flops(gpu, type) : gpu.bf16_flops;
  return 2.0 * bm * bn / (peak / gpu.sm) * 1e9;
}

Knobs shared_knobs(const GpuSpec& gpu) {
  const double dram = gpu.dram_Bps * 1e-12;
  return {{[](DenseGemmPath& p) -> double& { return p.t0_us; }, {0.5, 60}},
          {[](DenseGemmPath& p) -> double& { return p.cq_us_per_Melem; }, {1e-4, 20}},
          {[](DenseGemmPath& p) -> double& { return p.dram_eff; }, {0.25, 0.94, false}},
          {[](DenseGemmPath& p) -> double& { return p.l2_tbps; }, {dram, 5 * dram}},
          {[](DenseGemmPath& p) -> double& { return p.eps_us; }, {0.01, 20}},
          {[](DenseGemmPath& p) -> double& { return p.p; }, {1.3, 14}},
          {[](DenseGemmPath& p) -> double& { return p.wave_quant; }, {0, 1, false}}};
}

Knob<DenseGemmPath> tau_knob(std::size_t regime) {
  return {[regime](DenseGemmPath& p) -> double& { return p.regimes[regime].tau_ns; }, {0.02, 80}};
}

DenseGemmPath start_path(const GpuSpec& gpu, const Format& format) {
  DenseGemmPath p;
  p.bytes_per_weight = format.bytes_per_weight;
  p.compute = format.compute;
  p.t0_us = 3.5;
  p.cq_us_per_Melem = 0.5;
  p.dram_eff = 0.82;
  p.l2_tbps = 1.6 * gpu.dram_Bps * 1e-12;
  p.eps_us = 0.5;
  p.p = 3;
  p.wave_quant = 0.5;
  for (const int edge : kEdges) {
    const int bm = edge <= 16 ? 16 : edge <= 32 ? 32 : edge <= 64 ? 64 : 128;
    p.regimes.push_back({edge, bm, 128, std::max(1.0, peak_tau_ns(gpu, p.compute, bm, 128))});
  }
  return p;
}

Rows rows_of_regime(const Rows& rows, std::size_t r, std::size_t limit) {
  Rows out;
  for (const Sample* s : rows)
    if (s->a <= kEdges[r] && (r == 0 || s->a > kEdges[r - 1])) out.push_back(s);
  return pick(out, limit);
}

/// Best tile of every regime, the other constants held.
void search_tiles(const GpuSpec& gpu, DenseGemmPath& path, const Rows& rows) {
  for (std::size_t r = 0; r < std::size(kEdges); ++r) {
    const Rows here = rows_of_regime(rows, r, 140);
    if (here.empty()) continue;
    Best<DenseGemmPath> best;
    const GemmRegime now = path.regimes[r];
    for (const int bm : {16, 32, 64, 128, 256}) {
      if (bm > std::max(16, 2 * kEdges[r] - 1)) continue;
      for (const int bn : {32, 64, 128, 256}) {
        DenseGemmPath trial = path;
        const double area = static_cast<double>(bm) * bn / (static_cast<double>(now.bm) * now.bn);
        trial.regimes[r] = {kEdges[r], bm, bn, std::clamp(now.tau_ns * std::sqrt(area), 0.03, 70.0)};
        const double loss = tune(gpu, trial, Knobs{tau_knob(r)}, here, 4);
        best.offer(trial, loss);
      }
    }
    path = best.path;
  }
}

/// Regimes without rows follow their neighbour below.
void fill_empty_regimes(DenseGemmPath& path, const Rows& rows) {
  for (std::size_t r = 1; r < std::size(kEdges); ++r)
    if (rows_of_regime(rows, r, 1).empty()) path.regimes[r].tau_ns = path.regimes[r - 1].tau_ns;
}

}  // namespace

DenseGemmPath fit_dense_gemm(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  Knobs all = shared_knobs(gpu);
  for (std::size_t r = 0; r < std::size(kEdges); ++r)
    if (!rows_of_regime(rows, r, 1).empty()) all.push_back(tau_knob(r));
  const Rows few = pick(rows, kSearchRows);
  Best<DenseGemmPath> best;
  for (const auto& [split, from_k] : {std::pair{1, 0}, {4, 0}, {16, 0}, {16, 2048}, {16, 4096}}) {
    DenseGemmPath path = start_path(gpu, data.format);
    path.split_k_max = split;
    path.split_k_min_k = from_k;
    tune(gpu, path, all, few, 5);
    search_tiles(gpu, path, rows);
    const double loss = tune(gpu, path, all, few, 6);
    best.offer(path, loss);
  }
  for (int round = 0; round < 2; ++round) {
    search_tiles(gpu, best.path, rows);
    tune(gpu, best.path, all, pick(rows, kFinalRows), 10);
  }
  fill_empty_regimes(best.path, rows);
  for (const Knob<DenseGemmPath>& k : all) k.of(best.path) = rounded(k.of(best.path));
  for (GemmRegime& r : best.path.regimes) r.tau_ns = rounded(r.tau_ns);
  return best.path;
}

}  // namespace moe
