// How sure is the step time? Every path's fit left a spread; the same kernel is wrong in the same direction in every
// layer, so the errors of one path add up, and those of different paths are independent.
//
//   sigma(step)^2 = sum over paths (time_path * spread_path)^2 + (graph gaps * kGapSpread)^2
//                   + (host launches * kLaunchSpread)^2
//   interval90    = step -+ 1.645 sigma; `routing.similarity: [value, high]` lowers the low end to the step at `high`
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

}  // namespace

void add_interval(const Case& c, Result& r) {
  double variance = 0;
  for (const PathUse& p : r.paths) variance += std::pow(p.time_us * 1e-3 * p.spread, 2);
  const double gaps = graph_gaps_ms(c, r), launches = r.breakdown_ms[static_cast<std::size_t>(Category::host)] - gaps;
  variance += std::pow(gaps * kGapSpread, 2) + std::pow(launches * kLaunchSpread, 2);
  for (const Unknown& u : c.experiment.unknown) variance += std::pow(r.step_ms * u.spread, 2);
  const double half = kNormal90 * std::sqrt(variance);
  r.interval_low_ms = std::max(r.theoretical_min_ms, r.step_ms - half);
  r.interval_high_ms = r.step_ms + half;
  if (c.experiment.routing.similarity_high > c.experiment.routing.similarity) {
    Case alike = c;
    alike.experiment.routing.similarity = c.experiment.routing.similarity_high;
    r.interval_low_ms = std::min(r.interval_low_ms, std::max(0.0, step_ms(alike, {}) - half));
  }
}

}  // namespace moe
