#include "fit/path_fits.hpp"

namespace moe {
namespace {

constexpr std::size_t kSearchRows = 1000, kFinalRows = 3000;
using Knobs = std::vector<Knob<AttentionPath>>;

Knobs knobs_of(const GpuSpec& gpu) {
  const double dram = gpu.dram_Bps * 1e-12;
  return {{[](AttentionPath& p) -> double& { return p.t0_us; }, {0.5, 60}},
          {[](AttentionPath& p) -> double& { return p.cq_us_per_MB; }, {5e-4, 30}},
          {[](AttentionPath& p) -> double& { return p.reduce_us; }, {1e-3, 12}},
          {[](AttentionPath& p) -> double& { return p.dram_eff; }, {0.1, 0.94, false}},
          {[](AttentionPath& p) -> double& { return p.l2_tbps; }, {0.5 * dram, 6 * dram}},
          {[](AttentionPath& p) -> double& { return p.tau_us_per_token; }, {1e-4, 0.5}},
          {[](AttentionPath& p) -> double& { return p.eps_us; }, {2e-3, 30}},
          {[](AttentionPath& p) -> double& { return p.p; }, {1.3, 14}},
          {[](AttentionPath& p) -> double& { return p.wave_quant; }, {0, 1, false}}};
}

/// How a kernel cuts its work: searched one after the other, from several starts.
struct Cut {
  int AttentionPath::*field;
  std::vector<int> choices;
};
const std::vector<Cut>& cuts() {
  static const std::vector<Cut> all{{&AttentionPath::max_splits, {1, 4, 8, 16, 32, 64, 128}},
                                    {&AttentionPath::head_tile, {1, 4, 8, 16, 32, 64, 128}},
                                    {&AttentionPath::min_chunk, {32, 64, 128, 256, 512}}};
  return all;
}

AttentionPath start_path(const GpuSpec& gpu, int head_tile, int splits) {
  AttentionPath p;
  p.head_tile = head_tile;
  p.max_splits = splits;
  p.min_chunk = 128;
  p.ctas_per_sm = 1;
  p.t0_us = 7;
  p.cq_us_per_MB = 0.6;
  p.reduce_us = 0.6;
  p.dram_eff = 0.83;
  p.l2_tbps = 2.5 * gpu.dram_Bps * 1e-12;
  p.tau_us_per_token = 0.015;
  p.eps_us = 1;
  p.p = 3;
  p.wave_quant = 0.2;
  return p;
}

void search_cuts(const GpuSpec& gpu, Best<AttentionPath>& best, const Knobs& knobs, const Rows& rows) {
  for (const Cut& cut : cuts()) {
    const AttentionPath from = best.path;
    for (const int value : cut.choices) {
      if (value == from.*cut.field) continue;
      AttentionPath trial = from;
      trial.*cut.field = value;
      const double loss = tune(gpu, trial, knobs, rows, 5);
      best.offer(trial, loss);
    }
  }
  for (const double blocks : {1.0, 2.0, 4.0}) {
    AttentionPath trial = best.path;
    trial.ctas_per_sm = blocks;
    const double loss = tune(gpu, trial, knobs, rows, 5);
    best.offer(trial, loss);
  }
}

}  // namespace

AttentionPath fit_attention(const GpuSpec& gpu, const PathData&, const Rows& rows) {
  const Knobs knobs = knobs_of(gpu);
  const Rows few = pick(rows, kSearchRows);
  Best<AttentionPath> best;
  for (const auto& [tile, splits] : {std::pair{16, 128}, {64, 16}, {16, 1}, {128, 32}, {8, 64}}) {
    AttentionPath path = start_path(gpu, tile, splits);
    const double loss = tune(gpu, path, knobs, few, 12);
    best.offer(path, loss);
  }
  search_cuts(gpu, best, knobs, few);
  search_cuts(gpu, best, knobs, few);
  tune(gpu, best.path, knobs, pick(rows, kFinalRows), 15);
  for (const Knob<AttentionPath>& k : knobs) k.of(best.path) = rounded(k.of(best.path));
  return best.path;
}

}  // namespace moe
