#include "cost/profile_fields.hpp"

#include <fmt/core.h>

#include "cost/split_kv.hpp"

namespace moe {
namespace {

const std::vector<std::string>& compute_names() {
  static const std::vector<std::string> names{"bf16", "fp8", "fp4"};
  return names;
}

/// A constant that cannot be negative.
void constant(Fields& f, const std::string& key, double& into, const std::string& help, Need need = Need::required) {
  f.number(key, into, need, Range::not_negative(), help);
}

/// What every equation has: fixed time, memory rates, and how its two limits combine.
void bind_rates(Fields& f, double& t0_us, double& dram_eff, double& l2_tbps, double& p) {
  constant(f, "t0_us", t0_us, "fixed time");
  f.number("dram_eff", dram_eff, Need::required, {0, 1, true}, "share of peak memory bandwidth");
  f.number("l2_tbps", l2_tbps, Need::required, Range::positive(), "L2 bandwidth, TB/s");
  f.number("p", p, Need::required, Range::at_least(1), "how the two limits combine: 1 adds them, large is the maximum");
}

/// Tiles over SMs: whole waves or shared evenly.
void bind_wave(Fields& f, double& wave_quant, double& eps_us) {
  f.number("wave_quant", wave_quant, Need::required, Range::between(0, 1), "1: whole waves, 0: shared evenly");
  constant(f, "eps_us", eps_us, "fixed time of a tile");
}

/// Regimes must ascend: the first that reaches m applies, with its alternatives.
void bind_regimes(Fields& f, std::vector<GemmRegime>& regimes) {
  f.list("regimes", Need::required, "tiles by number of rows, ascending; with the same m_max: alternatives, the quickest counts", [&](Fields& r, std::size_t i) {
    GemmRegime regime;
    const Range sizes = Range::at_least(1);
    r.integer("m_max", regime.m_max, Need::required, sizes, "applies to m up to this");
    r.integer("bm", regime.bm, Need::required, sizes, "rows of a tile");
    r.integer("bn", regime.bn, Need::required, sizes, "columns of a tile");
    r.number("tau_ns", regime.tau_ns, Need::required, Range::positive(), "time of one tile per element of K");
    if (i > 0 && !regimes.empty() && regime.m_max < regimes.back().m_max)
      r.error("m_max", fmt::format("regimes do not ascend: {} after {}", regime.m_max, regimes.back().m_max));
    regimes.push_back(regime);
  });
  if (!f.describing() && f.has("regimes") && regimes.empty()) f.error("regimes", "`regimes` is empty");
}

}  // namespace

void bind_dense_gemm(Fields& f, DenseGemmPath& path) {
  f.number("bytes_per_weight", path.bytes_per_weight, Need::required, Range::positive(), "scales included");
  f.choice("compute", path.compute, compute_names(), Need::required, "format in which the multiply runs");
  bind_rates(f, path.t0_us, path.dram_eff, path.l2_tbps, path.p);
  constant(f, "cq_us_per_Melem", path.cq_us_per_Melem, "per million elements of the input");
  bind_wave(f, path.wave_quant, path.eps_us);
  f.integer("split_k_max", path.split_k_max, Need::required, Range::at_least(1), "largest split of K");
  f.integer("split_k_min_k", path.split_k_min_k, Need::required, Range::not_negative(), "no split below this K");
  constant(f, "split_us", path.split_us, "adding the parts where K is split; split where that is quicker", Need::optional);
  bind_regimes(f, path.regimes);
  bind_common(f, path.includes, path.quality, {"m", "n", "k"});
}

void bind_moe(Fields& f, MoePath& path) {
  f.number("bytes_per_weight", path.bytes_per_weight, Need::required, Range::positive(), "scales included");
  f.number("bytes_per_activation", path.bytes_per_activation, Need::required, Range::positive(),
           "of the rows that enter the multiply, scales included");
  f.choice("compute", path.compute, compute_names(), Need::required, "format in which the multiply runs");
  bind_tile_rule(f, path.tile);
  std::vector<double> columns;
  f.numbers("bn", columns, Unit::count, Need::required, Range::at_least(1), "columns of a tile: [first, second GEMM]; with blocks_per_sm: [of 16 rows, of more rows]");
  if (columns.size() == 2) {
    path.bn1 = static_cast<int>(columns[0]);
    path.bn2 = static_cast<int>(columns[1]);
  } else if (!columns.empty()) {
    f.error("bn", "`bn` has two entries, one for each GEMM");
  }
  f.integer("blocks_per_sm", path.blocks_per_sm, Need::optional, Range::not_negative(),
            "blocks that share an SM: waves of blocks come one after the other; 0: waves of tiles over SMs");
  f.integer("row_piece", path.row_piece, Need::optional, Range::not_negative(),
            "a tile multiplies its rows in pieces of so many (8, 16, ... 256), as far as there are rows; 0: whole tiles");
  bind_rates(f, path.t0_us, path.dram_eff, path.l2_tbps, path.p);
  constant(f, "ck_us", path.ck_us, "per expert that a token picks");
  constant(f, "ctok_us", path.ctok_us, "per token of the batch");
  constant(f, "cE_us", path.cE_us, "per local expert");
  constant(f, "cA_us", path.cA_us, "per active local expert");
  constant(f, "crow_us_per_MB", path.crow_us_per_MB, "per MB of rows moved");
  constant(f, "tau0_ns", path.tau0_ns, "time of one tile per element of K");
  constant(f, "tau1_ns_per_row", path.tau1_ns_per_row, "further time per row of the tile");
  bind_wave(f, path.wave_quant, path.eps_us);
  f.flag("table_rows_clamped", path.table_rows_clamped, Need::optional,
         "the benchmark folded remote experts' rows onto local expert 0; only for evaluating its rows");
  bind_common(f, path.includes, path.quality,
              {"tokens", "hidden", "intermediate", "topk", "experts", "local_experts"});
}

void bind_attention(Fields& f, AttentionPath& path) {
  const Range sizes = Range::at_least(1);
  f.integer("head_tile", path.head_tile, Need::required, sizes, "query rows of one tile");
  f.integer("max_splits", path.max_splits, Need::required, sizes, "largest split of the cached tokens");
  f.integer("min_chunk", path.min_chunk, Need::required, sizes, "fewest cached tokens of a split");
  f.number("ctas_per_sm", path.ctas_per_sm, Need::required, Range::positive(), "blocks that share an SM");
  bind_rates(f, path.t0_us, path.dram_eff, path.l2_tbps, path.p);
  constant(f, "cq_us_per_MB", path.cq_us_per_MB, "per MB of query and output");
  f.number("batch_us", path.batch_us, Need::optional, Range::not_negative(), "growth of the fixed part with each doubling of sequences x queries");
  constant(f, "reduce_us", path.reduce_us, "joining splits, times log2(1 + splits); once where split_us is given");
  constant(f, "tau_us_per_token", path.tau_us_per_token, "of one tile per cached token and 128 elements of head_dim");
  constant(f, "split_us", path.split_us, "joining: for each split", Need::optional);
  bind_wave(f, path.wave_quant, path.eps_us);
  int rule = 0;
  std::vector<std::string> names{"fitted"};
  names.insert(names.end(), split_rule_names().begin(), split_rule_names().end());
  f.choice("split_rule", rule, names, Need::optional, "how the kernel cuts its work; fitted: from the keys above");
  path.split_rule = rule == 0 ? "" : names[static_cast<std::size_t>(rule)];
  bind_common(f, path.includes, path.quality, {"sequences", "context", "heads", "group", "head_dim"});
}

void bind_mla_module(Fields& f, MlaModulePath& path) {
  bind_attention(f, path);
  f.choice("compute", path.compute, compute_names(), Need::required, "format in which the projections multiply");
  constant(f, "weight_bytes_shared", path.weight_bytes_shared, "projections that every rank holds whole");
  constant(f, "weight_bytes_per_head", path.weight_bytes_per_head, "projections of one local head");
  constant(f, "weights_shared", path.weights_shared, "the same, elements");
  constant(f, "weights_per_head", path.weights_per_head, "the same, elements");
  f.number("weight_eff", path.weight_eff, Need::required, {0, 1, true}, "share of peak memory bandwidth, projections");
  constant(f, "c_us_per_GFLOP", path.c_us_per_GFLOP, "multiply of the projections");
}

void bind_elementwise(Fields& f, ElementwisePath& path) {
  bind_rates(f, path.t0_us, path.dram_eff, path.l2_tbps, path.p);
  constant(f, "c_us", path.c_us, "per unit of x", Need::optional);
  f.text("x_unit", path.x_unit, Need::optional, "what x counts");
  f.text("bytes_of", path.bytes_of, Need::required, "what the bytes are");
  if (!f.describing() && path.c_us > 0 && path.x_unit.empty())
    f.error("c_us", "`c_us` without `x_unit`", "say what x counts, e.g. `x_unit: million elements`");
  bind_common(f, path.includes, path.quality, {"x", "bytes"});
}

}  // namespace moe
