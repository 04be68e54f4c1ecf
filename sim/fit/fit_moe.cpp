#include "fit/path_fits.hpp"

namespace moe {
namespace {

constexpr std::size_t kSearchRows = 700, kFinalRows = 4000;
using Knobs = std::vector<Knob<MoePath>>;

Knobs knobs_of(const GpuSpec& gpu) {
  const double dram = gpu.dram_Bps * 1e-12;
  return {{[](MoePath& p) -> double& { return p.t0_us; }, {1, 120}},
          {[](MoePath& p) -> double& { return p.ck_us; }, {1e-3, 4}},
          {[](MoePath& p) -> double& { return p.ctok_us; }, {1e-4, 1}},
          {[](MoePath& p) -> double& { return p.cE_us; }, {1e-4, 1}},
          {[](MoePath& p) -> double& { return p.cA_us; }, {1e-4, 3}},
          {[](MoePath& p) -> double& { return p.crow_us_per_MB; }, {1e-3, 5}},
          {[](MoePath& p) -> double& { return p.dram_eff; }, {0.1, 0.94, false}},
          {[](MoePath& p) -> double& { return p.l2_tbps; }, {dram, 5 * dram}},
          {[](MoePath& p) -> double& { return p.tau0_ns; }, {0.01, 20}},
          {[](MoePath& p) -> double& { return p.tau1_ns_per_row; }, {5e-4, 1}},
          {[](MoePath& p) -> double& { return p.eps_us; }, {0.003, 20}},
          {[](MoePath& p) -> double& { return p.p; }, {1.3, 14}},
          {[](MoePath& p) -> double& { return p.wave_quant; }, {0, 1, false}}};
}

/// Rules that are tried; one where it is known with its pieces.
std::vector<TileRule> rules(const MoePath& base) {
  if (base.row_piece > 0) return {base.tile};
  std::vector<TileRule> out;
  for (const double b : {16, 32, 64, 128}) out.push_back({"fix", {b}});
  for (const char* kind : {"mar", "mrl"}) out.push_back({kind, {0.9}});
  for (const char* kind : {"tri", "trl"})
    for (const auto& [a, b] : {std::pair{16.0, 32.0}, {16.0, 64.0}, {64.0, 128.0}})
      out.push_back({kind, {a, b}});
  for (const char* kind : {"ada", "adl"})
    for (const auto& [b, f] : {std::pair{16.0, 0.5}, {16.0, 1.0}, {32.0, 1.0}, {64.0, 1.0}})
      out.push_back({kind, {b, f}});
  return out;
}

MoePath start_path(const GpuSpec& gpu, const PathData& data) {
  MoePath p;
  p.bytes_per_weight = data.format.bytes_per_weight;
  p.bytes_per_activation = data.format.bytes_per_activation;
  p.compute = data.format.compute;
  p.table_rows_clamped = data.protocol->clamped;
  p.tile = {"fix", {64}};
  p.bn1 = p.bn2 = 128;
  p.t0_us = 15;
  p.ck_us = 0.2;
  p.ctok_us = 0.02;
  p.cE_us = 0.02;
  p.cA_us = 0.02;
  p.crow_us_per_MB = 0.5;
  p.dram_eff = 0.83;
  p.l2_tbps = 3 * gpu.dram_Bps * 1e-12;
  p.tau0_ns = 1;
  p.tau1_ns_per_row = 0.05;
  p.eps_us = 0.5;
  p.p = 2.5;
  p.wave_quant = 0.5;
  return p;
}

/// How the calibration suite's own kernels cut their work (grouped_gemm.cu): tile_rows_for; tiles of 16 rows have 32 columns
/// (four warps share K), taller ones 128; 96 KB of shared memory let two blocks onto an SM.
void cut_as_suite(MoePath& p) {
  p.tile = {"adc", {16, 0.75}};
  p.bn1 = 32;
  p.bn2 = 128;
  p.blocks_per_sm = 2;
  p.wave_quant = 1;
  p.tau0_ns = 4;
  p.tau1_ns_per_row = 0.1;
}

/// Its W4A16 kernel (grouped_w4a16.cu): the same tiles, in pieces of 8 rows as far as there are rows. Columns of a block
/// depend on K there, so they are searched.
void cut_in_pieces(MoePath& p) {
  p.tile = {"adc", {16, 0.75}};
  p.row_piece = 8;
}

struct Candidate {
  MoePath path;
  double loss = 0;
};

/// The best of the tile rules, tuned shortly from `base`.
std::vector<Candidate> search_rules(const GpuSpec& gpu, const MoePath& base, const Knobs& knobs, const Rows& rows) {
  std::vector<Candidate> all;
  for (const TileRule& rule : rules(base)) {
    Candidate c{base, 0};
    c.path.tile = rule;
    c.loss = tune(gpu, c.path, knobs, rows, 5);
    all.push_back(c);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.loss < y.loss; });
  return all;
}

/// One tile width after the other, both GEMMs.
void search_columns(const GpuSpec& gpu, Candidate& c, const Knobs& knobs, const Rows& rows) {
  const Candidate start = c;
  for (const auto& [first, second] :
       {std::pair{64, 64}, {128, 64}, {256, 64}, {64, 128}, {256, 128}, {128, 256}, {256, 256}}) {
    Candidate trial = start;
    trial.path.bn1 = first;
    trial.path.bn2 = second;
    trial.loss = tune(gpu, trial.path, knobs, rows, 5);
    if (trial.loss < c.loss) c = trial;
  }
}

MoePath search(const GpuSpec& gpu, const MoePath& base, const Knobs& knobs, const Rows& few) {
  std::vector<Candidate> found = search_rules(gpu, base, knobs, few);
  found.resize(std::min<std::size_t>(4, found.size()));
  Best<MoePath> best;
  for (Candidate& c : found) {
    search_columns(gpu, c, knobs, few);
    best.offer(c.path, c.loss);
  }
  for (const Candidate& c : search_rules(gpu, MoePath(best.path), knobs, few)) best.offer(c.path, c.loss);
  return best.path;
}

}  // namespace

MoePath fit_moe(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  Knobs knobs = knobs_of(gpu);
  const Rows few = pick(rows, kSearchRows);
  const bool suite = data.name.starts_with("suite-"), pieces = suite && data.name.ends_with("w4a16");
  const bool cut_known = suite && !pieces;
  MoePath path = start_path(gpu, data);
  if (pieces) cut_in_pieces(path);
  if (cut_known) {
    cut_as_suite(path);
    knobs.pop_back();  // wave_quant: these waves are whole
  }
  tune(gpu, path, knobs, few, 15);
  if (!cut_known) path = search(gpu, path, knobs, few);
  tune(gpu, path, knobs, pick(rows, kFinalRows), 20);
  for (const Knob<MoePath>& k : knobs) k.of(path) = rounded(k.of(path));
  return path;
}

}  // namespace moe
