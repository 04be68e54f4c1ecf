#include "report/json.hpp"

#include <cmath>

#include "base/hash.hpp"
#include "report/speculation_text.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kGiB = 1024.0 * 1024 * 1024;

Json weights_by_class(const RankWeights& w) {
  Json out = Json::array();
  for (std::size_t c = 0; c < kTensorClassCount; ++c)
    if (w.main[c] > 0) out.push_back({{"tensors", kTensorClassNames[c]}, {"gib", w.main[c] / kGiB}});
  const std::pair<const char*, double> others[] = {{"absorbed_copy", w.absorbed_copy}, {"mtp", w.mtp}, {"vision", w.vision}};
  for (const auto& [name, bytes] : others)
    if (bytes > 0) out.push_back({{"tensors", name}, {"gib", bytes / kGiB}});
  return out;
}

Json links(const Result& r) {
  Json out = Json::array();
  for (const LinkUse& l : r.links)
    out.push_back({{"link", l.name}, {"capacity_GBps", l.capacity_GBps}, {"carried_MB", l.carried_MB},
                   {"busy_share", l.busy_share}, {"cost_ms", l.cost_ms}});
  return out;
}

Json paths(const Result& r) {
  Json out = Json::array();
  for (const PathUse& p : r.paths) {
    Json row = {{"path", p.path}, {"calls", p.calls}, {"time_ms", p.time_us * 1e-3}, {"spread", p.spread},
                {"outside_range", p.outside}};
    if (!p.reason.empty()) row["reason"] = p.reason;
    out.push_back(row);
  }
  return out;
}

Json number_or_null(double v) { return std::isnan(v) ? Json(nullptr) : Json(v); }

Json claims(const Result& r) {
  Json out = Json::array();
  for (const ClaimResult& c : r.claims) {
    Json row = {{"claim", c.claim.text.empty() ? c.claim.metric : c.claim.text}, {"metric", c.claim.metric},
                {"value", c.claim.is_open ? Json(nullptr) : Json(c.claim.value)}, {"simulated", number_or_null(c.simulated)},
                {"tolerance", c.claim.tolerance}, {"relative", c.claim.tolerance_is_relative}, {"holds", c.holds},
                {"verdict", c.verdict()}, {"source", c.claim.source}, {"note", c.claim.note}};
    for (const auto& [key, value] : c.claim.set) row["set"][key] = value;
    for (const auto& [key, value] : c.claim.against) row["against"][key] = value;
    out.push_back(row);
  }
  return out;
}

Json drain(const DrainResult& d) {
  Json out = {{"seconds", d.seconds}, {"interval90_s", {d.low, d.high}}, {"half_seconds", d.half_seconds},
              {"mean_batch", d.mean_batch}, {"tokens_per_s", d.tokens_per_s}};
  if (d.seconds_without > 0) out["seconds_without_drafts"] = d.seconds_without, out["speedup"] = d.seconds_without / d.seconds;
  return out;
}

Json what_ifs(const Result& r) {
  Json out = Json::array();
  for (const WhatIf& w : r.what_if) {
    Json row = {{"name", w.name}};
    if (w.problem.empty()) row["step_ms"] = w.step_ms, row["change"] = w.step_ms / r.step_ms - 1;
    else row["problem"] = w.problem;
    out.push_back(row);
  }
  return out;
}

}  // namespace

nlohmann::ordered_json inputs_json(const Case& c) {
  Json out;
  Json resolved = Json::object();
  for (const FieldInfo& f : c.resolved)
    if (!f.value.empty()) resolved[f.path] = f.value;
  // Defaults that depend on other files are not known to the key declarations.
  resolved["checkpoint"] = c.experiment.checkpoint;
  resolved["kv_dtype"] = std::string(kKvDtypeNames[static_cast<std::size_t>(c.experiment.kv_dtype)]);
  resolved["gpus"] = c.experiment.gpus;
  for (const auto& [key, value] : c.overrides) resolved[key] = value;
  out["resolved"] = resolved;
  out["files"] = Json::array();
  for (const auto& [path, hash] : c.files) out["files"].push_back({{"file", path}, {"fnv1a", hash}});
  out["profile_provenance"] = c.profile->provenance;
  return out;
}

nlohmann::ordered_json to_ordered_json(const Case& c, const Result& r) {
  Json out;
  out["schema"] = 1;
  out["experiment"] = c.experiment.name;
  if (!c.experiment.question.empty()) out["question"] = c.experiment.question;
  out["step_ms"] = r.step_ms;
  out["tpot_ms"] = r.tpot_ms;
  out["tokens_per_s"] = r.tokens_per_s;
  out["tokens_per_s_per_sequence"] = r.tokens_per_s_per_sequence;
  out["interval90_ms"] = {r.interval_low_ms, r.interval_high_ms};
  out["steps_ms"] = r.steps_ms;
  out["step_p50_ms"] = r.quantile_ms(0.5);
  out["step_p99_ms"] = r.quantile_ms(0.99);
  Json breakdown;
  for (std::size_t i = 0; i < kCategoryNames.size(); ++i) breakdown[std::string(kCategoryNames[i])] = r.breakdown_ms[i];
  out["breakdown_ms"] = breakdown;
  out["links"] = links(r);
  Json memory = Json::array();
  for (const RankMemory& m : r.memory.ranks) memory.push_back(m.total() / kGiB);
  out["memory_gib_per_gpu"] = memory;
  out["weights_gib_per_gpu"] = r.memory.ranks[0].weights_bytes / kGiB;
  out["weights_by_class"] = weights_by_class(r.memory.ranks[0].weights);
  out["kv_capacity_tokens"] = r.memory.kv_capacity_tokens;
  out["kv_bytes_per_token_per_gpu"] = r.memory.kv_bytes_per_token;
  out["largest_batch"] = r.memory.largest_batch;
  out["theoretical_min_ms"] = r.theoretical_min_ms;
  out["theoretical_min_unreplicated_ms"] = r.theoretical_min_unreplicated_ms;
  out["flops_pct_of_peak"] = r.flops_pct_of_peak;
  out["achieved_tflops"] = r.achieved_tflops;
  out["achieved_pct_of_fastest_peak"] = r.achieved_pct_of_fastest_peak;
  out["expert_gemm"] = {{"slice", r.expert_gemm.slice}, {"rows_per_expert", r.expert_gemm.rows_per_expert},
                        {"dram_pct_of_peak", r.expert_gemm.dram_pct_of_peak}, {"flops_pct_of_peak", r.expert_gemm.flops_pct_of_peak}};
  out["contention_ms"] = r.contention_ms;
  out["active_experts"] = r.active_experts;
  out["rows"] = r.rows;
  if (r.speculation.on) out["speculation"] = speculation_json(r.speculation);
  if (r.drain.on) out["drain"] = drain(r.drain);
  out["paths"] = paths(r);
  out["what_if"] = what_ifs(r);
  out["claims"] = claims(r);
  out["machine_measured"] = c.machine->measured;
  out["warnings"] = r.warnings;
  out["ops"] = r.ops;
  out["fingerprint"] = hex64(r.fingerprint);
  out["inputs"] = inputs_json(c);
  return out;
}

}  // namespace moe
