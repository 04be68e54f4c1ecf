#include "fit/path_fits.hpp"

namespace moe {
namespace {

constexpr std::size_t kSearchRows = 700, kFinalRows = 3000;
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

struct Start {
  int head_tile, splits, chunk;
  double blocks;
};
constexpr Start kStarts[] = {{16, 128, 64, 1}, {64, 16, 256, 1}, {64, 1, 64, 1}, {16, 128, 256, 2}};

/// How a kernel cuts its work: searched one after the other, from several starts.
struct Cut {
  int AttentionPath::*field;
  std::vector<int> choices;
};
const std::vector<Cut>& cuts() {
  static const std::vector<Cut> all{{&AttentionPath::max_splits, {1, 4, 8, 16, 32, 64, 128}},
                                    {&AttentionPath::min_chunk, {32, 64, 128, 256, 512}},
                                    {&AttentionPath::head_tile, {16, 32, 64, 128}}};
  return all;
}

AttentionPath start_path(const GpuSpec& gpu, int head_tile, int splits, int chunk, double blocks) {
  AttentionPath p;
  p.head_tile = head_tile;
  p.max_splits = splits;
  p.min_chunk = chunk;
  p.ctas_per_sm = blocks;
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

/// MLA kernels may cut below the 16 rows of a tensor-core tile; grouped-query kernels pack a group into one.
void search_cuts(const GpuSpec& gpu, Best<AttentionPath>& best, const Knobs& knobs, const Rows& rows,
                 bool mla) {
  for (const Cut& cut : cuts()) {
    const AttentionPath from = best.path;
    std::vector<int> choices = cut.choices;
    if (mla && cut.field == &AttentionPath::head_tile) choices.insert(choices.end(), {1, 8});
    for (const int value : choices) {
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

AttentionPath fit_attention(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  const Knobs knobs = knobs_of(gpu);
  const Rows few = pick(rows, kSearchRows);
  Best<AttentionPath> best;
  const bool mla = data.op == Op::mla;
  for (const Start& s : kStarts) {
    Best<AttentionPath> here;
    AttentionPath path = start_path(gpu, s.head_tile, s.splits, s.chunk, s.blocks);
    const double loss = tune(gpu, path, knobs, few, 12);
    here.offer(path, loss);
    search_cuts(gpu, here, knobs, few, mla);
    best.offer(here.path, here.loss);
  }
  search_cuts(gpu, best, knobs, few, mla);
  tune(gpu, best.path, knobs, pick(rows, kFinalRows), 15);
  for (const Knob<AttentionPath>& k : knobs) k.of(best.path) = rounded(k.of(best.path));
  return best.path;
}

}  // namespace moe
