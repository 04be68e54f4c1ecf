#include "experiment/bind_claims.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace moe {
namespace {

/// gain.X needs X to be known; calls.X names a kernel path, which only the run knows.
void check_metric(Fields& g, const Claim& c) {
  std::string metric = c.metric;
  if (!c.against.empty() && !metric.starts_with("gain."))
    g.error("against", "only a gain compares", "write the metric as `gain." + metric + "`");
  if (metric.starts_with("gain.")) {
    metric.erase(0, 5);
    if (c.set.empty() && !g.describing()) g.error("metric", "a gain is that of `set`", "give the keys to change as `set`");
  }
  if (metric.empty() || metric.starts_with("calls.")) return;
  const std::vector<std::string> metrics = known_metrics();
  if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
    g.error("metric", fmt::format("unknown metric `{}`", metric), suggestion(metric, metrics));
}

void bind_tolerance(Fields& g, Claim& c) {
  std::string tolerance = "5 %";
  g.text("tolerance", tolerance, Need::optional, "allowed distance: `5 %` of the value, or a number");
  c.tolerance_is_relative = tolerance.find('%') != std::string::npos;
  const Parsed parsed = parse_quantity(tolerance, c.tolerance_is_relative ? Unit::share : Unit::number);
  if (!parsed.problem.empty() || parsed.value < 0)
    g.error("tolerance", fmt::format("invalid tolerance `{}`", tolerance), "write it like `5 %` or `0.2`");
  c.tolerance = parsed.value;
}

/// value and tolerance, or a range, or neither: then the simulation predicts.
void bind_claimed(Fields& g, Claim& c) {
  g.number("value", c.value, Need::optional, Range::any(), "claimed value, in the metric's unit");
  bind_tolerance(g, c);
  std::vector<double> range;
  g.numbers("between", range, Unit::number, Need::optional, Range::any(), "claimed range instead of a value: [low, high]");
  const bool ranged = g.has("between");
  c.is_open = !ranged && !g.has("value");
  if (ranged && g.has("value")) g.error("between", "give `value` or `between`, not both");
  if (c.is_open && g.has("tolerance")) g.error("tolerance", "`tolerance` needs a `value`");
  if (!ranged) return;
  if (g.has("tolerance")) g.error("tolerance", "a range needs no `tolerance`");
  if (range.size() != 2 || range[0] > range[1]) return g.error("between", "`between` is [low, high]");
  c.is_range = true;
  c.value = (range[0] + range[1]) / 2;
  c.tolerance = (range[1] - range[0]) / 2;
  c.tolerance_is_relative = false;
}

}  // namespace

void bind_set(Fields& f, const char* key, Overrides& out, const char* help) {
  const Node* set = f.raw(key, "map of experiment key: value", Need::optional, help);
  if (set == nullptr) return;
  if (!set->is_map()) f.error(key, fmt::format("`{}` must be a map of dotted key: value", key));
  for (const Entry& entry : set->entries) {
    if (entry.value.is_scalar()) out.emplace_back(entry.key, entry.value.text);
    else f.error(key, fmt::format("`{}` needs a plain value", entry.key));
  }
}

std::vector<std::string> known_metrics() {
  std::vector<std::string> names{"step_ms", "tpot_ms", "tokens_per_s", "tokens_per_s_per_sequence", "kv_capacity_tokens",
                                 "theoretical_min_ms", "theoretical_min_unreplicated_ms", "gap_to_min", "flops_pct_of_peak",
                                 "achieved_tflops", "achieved_pct_of_fastest_peak", "contention_ms", "active_experts", "rows",
                                 "expert_gemm.slice", "expert_gemm.rows_per_expert", "expert_gemm.dram_pct_of_peak",
                                 "expert_gemm.flops_pct_of_peak", "speculation.acceptance_length", "speculation.speedup",
                                 "speculation.break_even_length", "speculation.best_k", "speculation.break_even_batch"};
  for (const char* prefix : {"breakdown_ms.", "share."})
    for (const char* c : kCategoryKeys) names.push_back(std::string(prefix) + c);
  return names;
}

void bind_claims(Fields& f, std::vector<Claim>& claims) {
  f.list("expect", Need::optional, "claims about the result, checked after the run", [&](Fields& g, std::size_t) {
    Claim c;
    g.text("claim", c.text, Need::optional, "the statement in words; default: the metric");
    g.text("metric", c.metric, Need::required,
           "dotted key of result.json, share.<category>, calls.<kernel path>, or gain.<metric>: with `set` over with `against`, minus 1");
    bind_claimed(g, c);
    g.text("only_under", c.only_under, Need::optional, "conditions of this experiment that are not the published ones; part of the verdict");
    g.text("source", c.source, Need::required, "who claims it");
    g.text("note", c.note, Need::optional, "under which conditions it was stated, and why it holds or not");
    bind_set(g, "set", c.set, "keys changed for this claim");
    bind_set(g, "against", c.against, "gain.<metric>: keys changed for what it is compared with; default: the experiment as it stands");
    check_metric(g, c);
    claims.push_back(std::move(c));
  });
}

}  // namespace moe
