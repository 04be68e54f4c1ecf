// Does the result agree with what the experiment expects? |simulated - value| <= tolerance.
#include <cmath>

#include "report/json.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

/// Value of a dotted metric name. Names were checked when the file was read (known_metrics).
double metric_value(const nlohmann::json& result, const Result& r, const std::string& metric) {
  if (metric.starts_with("share.")) return result["breakdown_ms"].value(metric.substr(6), 0.0) / r.step_ms;
  if (metric == "gap_to_min") return r.step_ms / r.theoretical_min_ms;
  const nlohmann::json* at = &result;
  for (std::size_t from = 0;;) {
    const std::size_t dot = metric.find('.', from);
    at = &at->at(metric.substr(from, dot == std::string::npos ? dot : dot - from));
    if (dot == std::string::npos) return at->get<double>();
    from = dot + 1;
  }
}

}  // namespace

void check_claims(const Case& c, Result& r) {
  if (c.experiment.claims.empty()) return;
  const nlohmann::json result = to_json(c, r);
  for (const Claim& claim : c.experiment.claims) {
    ClaimResult checked{claim, metric_value(result, r, claim.metric), false};
    const double allowed = claim.tolerance_is_relative ? claim.tolerance * std::abs(claim.value) : claim.tolerance;
    checked.holds = std::abs(checked.simulated - claim.value) <= allowed;
    r.claims.push_back(std::move(checked));
  }
}

}  // namespace moe
