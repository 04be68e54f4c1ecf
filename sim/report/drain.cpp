// A batch that is not refilled. The step is simulated at some batch sizes, two per octave, and interpolated between them;
// the cache is as long as it is half-way through what has to be written.
#include "workload/drain.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.hpp"
#include "config/diagnostic.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

/// Step by batch; `drafts` false: the same without speculation.
std::map<int, double> steps_by_batch(const Case& c, double written, bool drafts) {
  const int replicas = c.experiment.plan.replicas, most = c.experiment.batch.sequences;
  Case other = c;
  other.experiment.batch.context = {c.experiment.batch.mean_context() + written};
  if (!drafts) other.experiment.speculation.k = 0, other.experiment.speculation.adaptive.clear();
  std::map<int, double> out;
  const auto add = [&](int batch) {
    if (batch > most || out.count(batch) > 0) return;
    other.experiment.batch.sequences = batch;
    out[batch] = step_ms(other, {});
  };
  for (int b = replicas; b <= most; b *= 2) add(b), add(b + b / 2);
  for (const AdaptiveDrafts& a : other.experiment.speculation.adaptive) add(a.max_batch * replicas), add((a.max_batch + 1) * replicas);
  add(most);
  return out;
}

double at_batch(const std::map<int, double>& steps, int batch) {
  const auto above = steps.lower_bound(batch);
  if (above == steps.end()) return steps.rbegin()->second;
  if (above->first == batch || above == steps.begin()) return above->second;
  const auto below = std::prev(above);
  return below->second + (above->second - below->second) * (batch - below->first) / (above->first - below->first);
}

/// Of the tokens of one step: sum of n^2 P(n) - mean^2.
double variance_of(const std::vector<double>& accepted) {
  double mean = 0, square = 0;
  for (std::size_t n = 0; n < accepted.size(); ++n) mean += static_cast<double>(n) * accepted[n], square += static_cast<double>(n * n) * accepted[n];
  return square - mean * mean;
}

DrainInput input_of(const Case& c, const Result& r, bool drafts) {
  const Experiment& e = c.experiment;
  DrainInput in;
  double sum = 0;
  for (int i = 0; i < e.batch.sequences; ++i) in.remaining.push_back(e.batch.remaining_of(i)), sum += in.remaining.back();
  auto steps = steps_by_batch(c, sum / e.batch.sequences / 2, drafts);
  in.step_ms = [steps](int n) { return at_batch(steps, n); };
  const int replicas = e.plan.replicas;
  const Speculation s = drafts ? e.speculation : Speculation{};
  const auto drafts_of = [s, replicas](int n) { return s.drafts((n + replicas - 1) / replicas); };
  in.most = [drafts_of](int n) { return drafts_of(n) + 1.0; };
  in.length = [s, drafts_of, replicas](int n) {
    return acceptance_length(survival(s.acceptance, drafts_of(n), (n + replicas - 1) / replicas, s.k));
  };
  in.seed = e.routing.seed;
  if (!drafts) return in;
  in.spread = s.acceptance.spread;
  in.variance = variance_of(r.speculation.accepted);
  return in;
}

}  // namespace

void add_drain(const Case& c, Result& r) {
  if (c.experiment.batch.remaining.empty()) return;
  const DrainInput in = input_of(c, r, r.speculation.on);
  const Drain d = drain(in);
  DrainResult& out = r.drain;
  out.on = true;
  out.seconds = d.seconds, out.half_seconds = d.half_seconds, out.mean_batch = d.mean_batch;
  double tokens = 0;
  for (const double t : in.remaining) tokens += t;
  out.tokens_per_s = tokens / d.seconds;
  // Draws, step time and measured acceptance are independent: their logarithms add in quadrature.
  const double tpot_low = r.speculation.on ? r.speculation.tpot_low_ms : r.interval_low_ms, tpot_high = r.speculation.on ? r.speculation.tpot_high_ms : r.interval_high_ms;
  out.low = d.seconds * std::exp(-std::hypot(std::log(d.seconds / d.low), std::log(r.tpot_ms / tpot_low)));
  out.high = d.seconds * std::exp(std::hypot(std::log(d.high / d.seconds), std::log(tpot_high / r.tpot_ms)));
  if (r.speculation.on) out.seconds_without = drain(input_of(c, r, false)).seconds;
}

}  // namespace moe
