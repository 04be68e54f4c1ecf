// Does the result agree with what the experiment expects? |simulated - value| <= tolerance.
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "report/json.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Value of a dotted key of result.json; NaN where it is absent or null.
double json_value(const nlohmann::ordered_json& result, const std::string& key) {
  const nlohmann::ordered_json* at = &result;
  for (std::size_t from = 0;;) {
    const std::size_t dot = key.find('.', from);
    const auto found = at->find(key.substr(from, dot == std::string::npos ? dot : dot - from));
    if (found == at->end()) return kNoNumber;
    at = &*found;
    if (dot == std::string::npos) return at->is_number() ? at->get<double>() : kNoNumber;
    from = dot + 1;
  }
}

double calls_of(const Result& r, const std::string& path) {
  for (const PathUse& p : r.paths)
    if (p.path == path) return p.calls;
  return 0;
}

/// Names were checked when the file was read (known_metrics).
double metric_value(const Case& c, const Result& r, const std::string& metric) {
  if (metric.starts_with("calls.")) return calls_of(r, metric.substr(6));
  if (metric == "gap_to_min") return r.step_ms / r.theoretical_min_ms;
  if (metric.starts_with("share.")) return metric_value(c, r, "breakdown_ms." + metric.substr(6)) / r.step_ms;
  const bool needs_table = metric == "speculation.best_k" || metric == "speculation.break_even_batch";
  if (!needs_table || !r.speculation.table.empty()) return json_value(to_ordered_json(c, r), metric);
  Result with_table;
  with_table.speculation = r.speculation;
  add_speculation_table(c, with_table);
  const SpeculationResult& s = with_table.speculation;
  if (!s.on || (metric != "speculation.best_k" && s.break_even_batch <= 0)) return kNoNumber;
  return metric == "speculation.best_k" ? s.best_k : s.break_even_batch;
}

/// The metric with some keys changed.
double value_with(const Case& c, const Result& r, const Overrides& set, const std::string& metric) {
  if (set.empty()) return metric_value(c, r, metric);
  Overrides all = c.overrides;
  all.insert(all.end(), set.begin(), set.end());
  Diagnostics warnings;
  Case changed = load_case(c.experiment.file, all, warnings);
  changed.experiment.claims.clear();
  EvaluateOptions options;
  options.what_if = false;
  return metric_value(changed, evaluate(changed, options), metric);
}

double simulated(const Case& c, const Result& r, const Claim& claim) {
  if (!claim.metric.starts_with("gain.")) return value_with(c, r, claim.set, claim.metric);
  const std::string metric = claim.metric.substr(5);
  return value_with(c, r, claim.set, metric) / value_with(c, r, claim.against, metric) - 1;
}

ClaimResult check(const Case& c, const Result& r, const Claim& claim) {
  ClaimResult out{claim, kNoNumber, false, {}};
  try {
    out.simulated = simulated(c, r, claim);
    if (std::isnan(out.simulated) && claim.metric != "speculation.break_even_batch") out.problem = "this run has no `" + claim.metric + "`";
  } catch (const InputError& e) {
    out.problem = e.diagnostics.all().empty() ? e.what() : e.diagnostics.all().front().message;
  } catch (const Infeasible& e) {
    out.problem = e.what();
  }
  const double allowed = claim.tolerance_is_relative ? claim.tolerance * std::abs(claim.value) : claim.tolerance;
  out.holds = out.problem.empty() && (claim.is_open || std::abs(out.simulated - claim.value) <= allowed);
  return out;
}

}  // namespace

std::string ClaimResult::verdict() const {
  if (!problem.empty()) return "no answer: " + problem;
  if (claim.is_open) return "predicted";
  if (!holds) return "refuted";
  return claim.only_under.empty() ? "reproduced" : "consistent only under " + claim.only_under;
}

void check_claims(const Case& c, Result& r) {
  std::vector<ClaimResult> checked;
  for (const Claim& claim : c.experiment.claims) checked.push_back(check(c, r, claim));
  r.claims = std::move(checked);
}

}  // namespace moe
