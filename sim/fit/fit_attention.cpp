#include "fit/path_fits.hpp"

namespace moe {
namespace {

constexpr std::size_t kSearchRows = 700, kFinalRows = 3000;
template <class Path>
using Knobs = std::vector<Knob<Path>>;

template <class Path>
Knobs<Path> knobs_of(const GpuSpec& gpu) {
  const double dram = gpu.dram_Bps * 1e-12;
  return {{[](Path& p) -> double& { return p.t0_us; }, {0.5, 60}},
          {[](Path& p) -> double& { return p.cq_us_per_MB; }, {5e-4, 30}},
          {[](Path& p) -> double& { return p.reduce_us; }, {1e-3, 12}},
          {[](Path& p) -> double& { return p.dram_eff; }, {0.1, 0.94, false}},
          {[](Path& p) -> double& { return p.l2_tbps; }, {0.5 * dram, 6 * dram}},
          {[](Path& p) -> double& { return p.tau_us_per_token; }, {1e-4, 0.5}},
          {[](Path& p) -> double& { return p.eps_us; }, {2e-3, 30}},
          {[](Path& p) -> double& { return p.p; }, {1.3, 14}},
          {[](Path& p) -> double& { return p.wave_quant; }, {0, 1, false}}};
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

void start(AttentionPath& p, const GpuSpec& gpu, const Start& s) {
  p.head_tile = s.head_tile;
  p.max_splits = s.splits;
  p.min_chunk = s.chunk;
  p.ctas_per_sm = s.blocks;
  p.t0_us = 7;
  p.cq_us_per_MB = 0.6;
  p.reduce_us = 0.6;
  p.dram_eff = 0.83;
  p.l2_tbps = 2.5 * gpu.dram_Bps * 1e-12;
  p.tau_us_per_token = 0.015;
  p.eps_us = 1;
  p.p = 3;
  p.wave_quant = 0.2;
}

/// The calibration suite's own kernels cut by a rule that is known (cost/split_kv.hpp).
std::string known_rule(const PathData& data) {
  if (!data.name.starts_with("suite-")) return "";
  return data.op == Op::gqa ? "suite_gqa" : data.op == Op::mla ? "suite_mla" : "";
}

/// MLA kernels may cut below the 16 rows of a tensor-core tile; grouped-query kernels pack a group into one.
template <class Path>
void search_cuts(const GpuSpec& gpu, Best<Path>& best, const Knobs<Path>& knobs, const Rows& rows, bool mla) {
  const std::vector<Cut> unknown = best.path.split_rule.empty() ? cuts() : std::vector<Cut>{};
  for (const Cut& cut : unknown) {
    const Path from = best.path;
    std::vector<int> choices = cut.choices;
    if (mla && cut.field == &AttentionPath::head_tile) choices.insert(choices.end(), {1, 8});
    for (const int value : choices) {
      if (value == from.*cut.field) continue;
      Path trial = from;
      trial.*cut.field = value;
      const double loss = tune(gpu, trial, knobs, rows, 5);
      best.offer(trial, loss);
    }
  }
  for (const double blocks : {1.0, 2.0, 4.0}) {
    Path trial = best.path;
    trial.ctas_per_sm = blocks;
    const double loss = tune(gpu, trial, knobs, rows, 5);
    best.offer(trial, loss);
  }
}

/// From several starts: the way of cutting, then all constants. `base` holds what is not searched.
template <class Path>
Path search(const GpuSpec& gpu, const Path& base, const Knobs<Path>& knobs, const Rows& rows, bool mla) {
  const Rows few = pick(rows, kSearchRows);
  Best<Path> best;
  for (const Start& s : kStarts) {
    Best<Path> here;
    Path path = base;
    start(path, gpu, s);
    const double loss = tune(gpu, path, knobs, few, 12);
    here.offer(path, loss);
    search_cuts(gpu, here, knobs, few, mla);
    best.offer(here.path, here.loss);
  }
  search_cuts(gpu, best, knobs, few, mla);
  tune(gpu, best.path, knobs, pick(rows, kFinalRows), 15);
  for (const Knob<Path>& k : knobs) k.of(best.path) = rounded(k.of(best.path));
  return best.path;
}

}  // namespace

AttentionPath fit_attention(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  AttentionPath base;
  base.split_rule = known_rule(data);
  Knobs<AttentionPath> knobs = knobs_of<AttentionPath>(gpu);
  if (!base.split_rule.empty()) {
    base.split_us = 0.05;  // a start: one trip to L2 per four parts, which is how far the joining loop is unrolled
    knobs.push_back({[](AttentionPath& p) -> double& { return p.split_us; }, {1e-3, 1}});
  }
  return search(gpu, base, knobs, rows, data.op != Op::gqa);
}

MlaModulePath fit_mla_module(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  MlaModulePath base;
  const MlaModel& m = data.model;
  base.compute = data.format.compute;
  base.weights_shared = m.shared_weights();
  base.weights_per_head = m.head_weights() + m.absorbed_weights();
  base.weight_bytes_shared = data.format.bytes_per_weight * m.shared_weights();
  base.weight_bytes_per_head = data.format.bytes_per_weight * m.head_weights() + 2 * m.absorbed_weights();
  base.c_us_per_GFLOP = 0.01;
  Knobs<MlaModulePath> knobs = knobs_of<MlaModulePath>(gpu);
  knobs[0].bound = {5, 400};
  knobs.push_back({[](MlaModulePath& p) -> double& { return p.weight_eff; }, {0.1, 0.94, false}});
  knobs.push_back({[](MlaModulePath& p) -> double& { return p.c_us_per_GFLOP; }, {1e-4, 10}});
  return search(gpu, base, knobs, rows, true);
}

}  // namespace moe
