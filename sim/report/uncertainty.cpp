// How sure is the step time? Errors of one cause go the same way in every layer, so they add up; causes are independent.
//
//   s^2     = sum over paths (share of the step * spread of the path's fit)^2      kernels and collectives
//           + (experts * kRoutingSpread * repeated picks)^2                        how alike tokens choose
//           + (graph gaps * kGapSpread)^2 + (host launches * kLaunchSpread)^2      host
//           + sum over `unknown:` of the experiment spread^2                       machine and build
//   build   = [low, high]: measured / simulated of published steps of this build (stack: published), or of all builds
//             that are as well documented
//   interval90 = step * exp(-sqrt((1.645 s)^2 + ln(low)^2)) ... step * exp(sqrt((1.645 s)^2 + ln(high)^2))
//
// ln(low) counts only below 1 and ln(high) only above. `routing.similarity: [value, high]` lowers the low end to the step
// at `high`. No step takes less than its bytes over the peak DRAM bandwidth.
#include <algorithm>
#include <cmath>

#include "report/result.hpp"
#include "report/uncertainty.hpp"

namespace moe {
namespace {

/// The part of the host's time that lies between graphs; the rest is launching kernels.
double graph_gaps_ms(const Case& c, const Result& r) {
  const double host = r.breakdown_ms[static_cast<std::size_t>(Category::host)];
  switch (r.graph) {
    case GraphMode::full: return host;
    case GraphMode::piecewise: return std::min(host, c.stack.launch.host_per_step_us * 1e-3);
    case GraphMode::eager: return 0;
  }
  return host;
}

/// Share of the picks of the widest MoE block that fall on an expert that is active already; 0 where routing was recorded.
double repeated_picks(const Case& c, const Result& r) {
  const Routing& routing = c.experiment.routing;
  if (routing.kind == Routing::Kind::histogram || routing.kind == Routing::Kind::trace || r.active_experts <= 0) return 0;
  int topk = 0;
  for (const Mlp& m : c.model.mlp) topk = std::max(topk, m.experts > 0 ? m.topk : 0);
  const double picks = static_cast<double>(topk) * c.experiment.batch.sequences * c.experiment.speculation.queries(c.experiment.batch.sequences);
  return picks > 0 ? std::clamp(1 - r.active_experts / picks, 0.0, 1.0) : 0;
}

/// Standard deviation of ln(step) from everything but the build.
double spread_of(const Case& c, const Result& r) {
  double variance = 0;
  for (const PathUse& p : r.paths) variance += std::pow(p.time_us * 1e-3 * p.spread, 2);
  const double experts = r.breakdown_ms[static_cast<std::size_t>(Category::experts)];
  variance += std::pow(experts * kRoutingSpread * repeated_picks(c, r), 2);
  const double gaps = graph_gaps_ms(c, r), launches = r.breakdown_ms[static_cast<std::size_t>(Category::host)] - gaps;
  variance += std::pow(gaps * kGapSpread, 2) + std::pow(launches * kLaunchSpread, 2);
  for (const Unknown& u : c.experiment.unknown) variance += std::pow(r.step_ms * u.spread, 2);
  return std::sqrt(variance) / r.step_ms;
}

PublishedSpread build_of(const Case& c) {
  const int batch = c.experiment.batch.sequences;
  const auto& steps = c.experiment.speculation.drafts(batch) > 0 ? c.stack.published_with_drafts : c.stack.published;
  for (const PublishedSpread& p : steps)
    if (batch <= p.up_to || &p == &steps.back()) return p;
  if (c.stack.documented) return {0, kDocumentedLow, kDocumentedHigh};
  return {0, kUndocumentedLow, kUndocumentedHigh};
}

}  // namespace

void add_interval(const Case& c, Result& r) {
  r.spread = spread_of(c, r);
  const PublishedSpread build = build_of(c);
  const double model = kNormal90 * r.spread;
  const double down = std::exp(-std::hypot(model, std::min(0.0, std::log(build.low))));
  const double up = std::exp(std::hypot(model, std::max(0.0, std::log(build.high))));
  r.interval_low_ms = std::max(r.theoretical_min_ms, r.step_ms * down);
  r.interval_high_ms = r.step_ms * up;
  if (c.experiment.routing.similarity_high > c.experiment.routing.similarity) {
    Case alike = c;
    alike.experiment.routing.similarity = c.experiment.routing.similarity_high;
    r.interval_low_ms = std::min(r.interval_low_ms, std::max(0.0, step_ms(alike, {}) * down));
  }
}

}  // namespace moe
