#include <algorithm>

#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"

namespace moe {
namespace {

/// One of the two grouped GEMMs: every active expert's [K, N] matrix, `tiles` M tiles of `rows` rows in all.
struct Group {
  double n = 0, k = 0, weight_bytes = 0;  ///< per expert
  int bn = 0;
};

struct GroupCost {
  double memory_us = 0, compute_us = 0, time_us = 0, waves = 0;
};

/// Waves of `blocks` blocks, one after the other: time, compute and waves of `cost`, whose memory time is known.
void in_turn(const GpuSpec& gpu, const MoePath& path, double k, int rows, double blocks, GroupCost& cost) {
  const double slots = path.blocks_per_sm * gpu.sm, full = std::floor(blocks / slots);
  const double k_us = k * (rows == 16 ? path.bn1 : path.bn2) / 128 * 1e-3;
  const auto add = [&](double waves, double in_wave) {
    const double tile_us = k_us * (path.tau0_ns + path.tau1_ns_per_row * rows);
    const double block_us = std::ceil(in_wave / gpu.sm) * tile_us + path.eps_us;
    cost.compute_us += waves * block_us;
    cost.time_us += waves * smax(cost.memory_us * in_wave / blocks, block_us, path.p);
  };
  if (full > 0) add(full, slots);
  if (blocks > full * slots) add(1, blocks - full * slots);
  cost.waves = blocks / slots;
}

/// memory  = A w [(1-h)/(e BW) + h/BW_L2] + (T-A) w/BW_L2   a hot expert's further tiles read its weights from L2
/// compute = wave(T ceil(N/bn)/SM; omega) (K (tau0 + tau1 bm) + eps)     bm: with row_piece the mean over tiles of whole pieces
///
/// blocks_per_sm = c > 0 (kernels whose blocks are known): waves of c SM blocks, one after the other. A wave of b blocks
/// takes smax(its share of the memory time, ceil(b/SM) K bn/128 (tau0 + tau1 bm) + eps; p): blocks on one SM share its
/// multipliers, and the last, partly filled wave still takes as long as a block.
GroupCost cost_of(const GpuSpec& gpu, const MoePath& path, const Group& g, const ExpertLoad& load, int rows,
                  double reuse_bytes) {
  GroupCost cost;
  const double tiles = load.tiles_for(rows);
  if (tiles <= 0) return cost;
  const ReadRate rate = read_rate(gpu, path.dram_eff, path.l2_tbps, reuse_bytes);
  cost.memory_us = load.active * g.weight_bytes * rate.mixed_us + (tiles - load.active) * g.weight_bytes * rate.l2_us;
  if (path.blocks_per_sm > 0) {
    in_turn(gpu, path, g.k, rows, tiles * std::ceil(g.n / (rows == 16 ? path.bn1 : path.bn2)), cost);
    return cost;
  }
  const double in_tile = path.row_piece > 0 ? path.row_piece * load.tiles_for(path.row_piece) / tiles : rows;
  const double tile_us = g.k * (path.tau0_ns + path.tau1_ns_per_row * in_tile) * 1e-3 + path.eps_us;
  cost.waves = tiles * std::ceil(g.n / g.bn) / gpu.sm;
  cost.compute_us = wave(cost.waves, path.wave_quant) * tile_us;
  cost.time_us = smax(cost.memory_us, cost.compute_us, path.p);
  return cost;
}

/// Fixed and per-item costs: routing, and everything that moves rows about.
struct Overhead {
  double route_us = 0;    ///< ck topk
  double permute_us = 0;  ///< ctok tokens + cE local experts + cA active + crow bytes of all rows
};
Overhead overhead_of(const MoePath& path, const MoeShape& shape, const ExpertLoad& load) {
  const double gates = shape.gated ? 2 : 1, ba = path.bytes_per_activation;
  const double row_bytes =
      shape.hidden * (ba + 2) + 2 * gates * shape.intermediate + ba * shape.intermediate;  // in, middle, out
  return {path.ck_us * shape.topk, path.ctok_us * shape.tokens + path.cE_us * shape.local_experts +
                                       path.cA_us * load.active + path.crow_us_per_MB * load.rows * row_bytes * 1e-6};
}

bool contains(const std::vector<std::string>& list, const char* word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool fitted(const FitQuality& q, const MoeShape& s) {
  return within(q, "tokens", s.tokens) && within(q, "hidden", s.hidden) &&
         within(q, "intermediate", s.intermediate) && within(q, "topk", s.topk) && within(q, "experts", s.experts) &&
         within(q, "local_experts", s.local_experts);
}

struct Parts {
  GroupCost first, second;
  Overhead overhead;
  double factor = 1;  ///< of the residual table: scales every stage
  ExpertStages stages;
};

double factor_of(const GpuSpec& gpu, const MoePath& path, const MoeShape& s, const ExpertLoad& load,
                 double reuse_bytes) {
  if (path.residuals.empty()) return 1;
  return path.residuals.factor({axis(s.tokens), axis(s.hidden), axis(s.intermediate), axis(s.local_experts),
                                axis(s.topk), axis(s.experts), axis(load.active > 0 ? load.rows / load.active : 0),
                                hit(gpu, reuse_bytes)});
}

/// Shares t0 equally among the stages that the path's time contains: each launches at least one kernel, and the
/// tables, which time the row as a whole, do not tell them apart.
Parts parts_of(const GpuSpec& gpu, const MoePath& path, const MoeShape& shape, const ExpertLoad& load,
               double reuse_bytes) {
  const double b = path.bytes_per_weight, h = shape.hidden, i = shape.intermediate, wide = shape.gated ? 2 * i : i;
  const int rows = tile_rows(path.tile, shape, load);
  Parts p;
  p.first = cost_of(gpu, path, {wide, h, wide * h * b, path.bn1}, load, rows, reuse_bytes);
  p.second = cost_of(gpu, path, {h, i, i * h * b, path.bn2}, load, rows, reuse_bytes);
  p.overhead = overhead_of(path, shape, load);
  const bool routes = contains(path.includes, "topk");
  const bool permutes = contains(path.includes, "permute") || contains(path.includes, "quantise");
  const double t0_us = path.t0_us / (2 + (routes ? 1 : 0) + (permutes ? 1 : 0));
  p.factor = factor_of(gpu, path, shape, load, reuse_bytes);
  p.stages.route_us = p.factor * (p.overhead.route_us + (routes ? t0_us : 0));
  p.stages.permute_us = p.factor * (p.overhead.permute_us + (permutes ? t0_us : 0));
  p.stages.gemm1_us = p.factor * (p.first.time_us + t0_us);
  p.stages.gemm2_us = p.factor * (p.second.time_us + t0_us);
  return p;
}

}  // namespace

/// Time = t0 + overheads + smax(memory, compute; p) of both grouped GEMMs (compute.hpp).
///   flop        2 R I H (gated: 3 matrices, else 2)     [flop]   multiply and add of the rows that arrived
///   dram_bytes  A (w1 + w2) (1 - h)                     [B]      weights of the active experts
/// Tested: tests/analytic/grouped_experts.cpp, tests/validation/kernel_vectors.cpp.
KernelCost grouped_experts(const GpuSpec& gpu, const MoePath& path, const MoeShape& shape, const ExpertLoad& load,
                           double reuse_bytes) {
  const Parts p = parts_of(gpu, path, shape, load, reuse_bytes);
  const double matrices = (shape.gated ? 3 : 2) * shape.hidden * shape.intermediate;
  KernelCost cost;
  cost.compute = path.compute;
  cost.spread = spread_of(path.quality, shape.tokens);
  cost.launch_us = path.t0_us + p.overhead.route_us + p.overhead.permute_us;
  cost.memory_us = p.first.memory_us + p.second.memory_us;
  cost.compute_us = p.first.compute_us + p.second.compute_us;
  cost.factor = p.factor;
  cost.time_us = p.stages.route_us + p.stages.permute_us + p.stages.gemm1_us + p.stages.gemm2_us;
  cost.waves = p.first.waves + p.second.waves;
  cost.dram_bytes = load.active * matrices * path.bytes_per_weight * (1 - hit(gpu, reuse_bytes));
  cost.flop = 2 * load.rows * matrices;
  cost.in_range = fitted(path.quality, shape);
  return cost;
}

/// Tested: tests/property/kernel_costs.cpp (the stages, added in this order, are the total to the last bit).
ExpertStages expert_stages(const GpuSpec& gpu, const MoePath& path, const MoeShape& shape, const ExpertLoad& load) {
  return parts_of(gpu, path, shape, load, kCold).stages;
}

}  // namespace moe
