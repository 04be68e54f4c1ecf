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

Rows rows_up_to(const Rows& rows, int edge, std::size_t limit) {
  const auto at = std::find(std::begin(kEdges), std::end(kEdges), edge);
  Rows out;
  for (const Sample* s : rows)
    if (s->a <= edge && (at == std::begin(kEdges) || s->a > *(at - 1))) out.push_back(s);
  return pick(out, limit);
}

/// Calls `body(bm, bn)` for the tiles that kernels have and that are not far larger than m.
template <class Body>
void for_tiles(int edge, Body body) {
  for (const int bm : {16, 32, 64, 128, 256})
    for (const int bn : {32, 64, 128, 256})
      if (bm <= std::max(16, 2 * edge - 1)) body(bm, bn);
}

/// A tile of another size, its tau guessed from one that is known.
GemmRegime resized(const GemmRegime& from, int bm, int bn) {
  const double area = static_cast<double>(bm) * bn / (static_cast<double>(from.bm) * from.bn);
  return {from.m_max, bm, bn, std::clamp(from.tau_ns * std::sqrt(area), 0.03, 70.0)};
}

/// Best tile of every regime, the other constants held.
void search_tiles(const GpuSpec& gpu, DenseGemmPath& path, const Rows& rows) {
  for (std::size_t r = 0; r < path.regimes.size(); ++r) {
    const GemmRegime now = path.regimes[r];
    const Rows here = rows_up_to(rows, now.m_max, 140);
    if (here.empty()) continue;
    Best<DenseGemmPath> best;
    for_tiles(now.m_max, [&](int bm, int bn) {
      DenseGemmPath trial = path;
      trial.regimes[r] = resized(now, bm, bn);
      const double loss = tune(gpu, trial, Knobs{tau_knob(r)}, here, 4);
      best.offer(trial, loss);
    });
    path = best.path;
  }
}

/// A second tile for a regime, where the library seems to choose between two: kept when it takes 3 % of the loss away.
void add_alternatives(const GpuSpec& gpu, DenseGemmPath& path, const Rows& rows) {
  constexpr double kWorthIt = 0.97;
  for (std::size_t r = 0; r < path.regimes.size(); ++r) {
    const GemmRegime now = path.regimes[r];
    const Rows here = rows_up_to(rows, now.m_max, 200);
    if (here.size() < 20) continue;
    Best<DenseGemmPath> best;
    DenseGemmPath alone = path;
    const double before = tune(gpu, alone, Knobs{tau_knob(r)}, here, 4);
    for_tiles(now.m_max, [&](int bm, int bn) {
      if (bm == now.bm && bn == now.bn) return;
      DenseGemmPath trial = alone;
      trial.regimes.insert(trial.regimes.begin() + static_cast<std::ptrdiff_t>(r), resized(now, bm, bn));
      const double loss = tune(gpu, trial, Knobs{tau_knob(r), tau_knob(r + 1)}, here, 6);
      best.offer(trial, loss);
    });
    if (best.loss >= kWorthIt * before) continue;
    path = best.path;
    ++r;  // past the pair
  }
}

/// Regimes without rows follow their neighbour below.
void fill_empty_regimes(DenseGemmPath& path, const Rows& rows) {
  for (std::size_t r = 1; r < path.regimes.size(); ++r)
    if (rows_up_to(rows, path.regimes[r].m_max, 1).empty()) path.regimes[r].tau_ns = path.regimes[r - 1].tau_ns;
}

Knobs knobs_for(const GpuSpec& gpu, const DenseGemmPath& path, const Rows& rows) {
  Knobs all = shared_knobs(gpu);
  if (path.split_us > 0) all.push_back({[](DenseGemmPath& p) -> double& { return p.split_us; }, {0.01, 10}});
  for (std::size_t r = 0; r < path.regimes.size(); ++r)
    if (!rows_up_to(rows, path.regimes[r].m_max, 1).empty()) all.push_back(tau_knob(r));
  return all;
}

}  // namespace

DenseGemmPath fit_dense_gemm(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  const Rows few = pick(rows, kSearchRows), many = pick(rows, kFinalRows);
  Best<DenseGemmPath> best;
  for (const auto& [split, from_k] : {std::pair{1, 0}, {4, 0}, {16, 0}, {16, 2048}, {16, 4096}}) {
    DenseGemmPath path = start_path(gpu, data.format);
    path.split_k_max = split;
    path.split_k_min_k = from_k;
    path.split_us = 1;
    const Knobs all = knobs_for(gpu, path, rows);
    tune(gpu, path, all, few, 5);
    search_tiles(gpu, path, rows);
    const double loss = tune(gpu, path, all, few, 6);
    best.offer(path, loss);
  }
  DenseGemmPath& path = best.path;
  search_tiles(gpu, path, rows);
  tune(gpu, path, knobs_for(gpu, path, rows), many, 8);
  add_alternatives(gpu, path, rows);
  tune(gpu, path, knobs_for(gpu, path, rows), many, 8);
  search_tiles(gpu, path, rows);
  tune(gpu, path, knobs_for(gpu, path, rows), many, 10);
  fill_empty_regimes(path, rows);
  for (const Knob<DenseGemmPath>& k : knobs_for(gpu, path, rows)) k.of(path) = rounded(k.of(path));
  for (GemmRegime& r : path.regimes) r.tau_ns = rounded(r.tau_ns);
  return path;
}

}  // namespace moe
