#include "report/result.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "network/pcie_rule.hpp"
#include "report/work.hpp"
#include "timeline/fingerprint.hpp"

namespace moe {
namespace {

/// The part of the critical path that lies in the measured round.
std::vector<Segment> measured(const std::vector<Segment>& path, Time from) {
  std::vector<Segment> out;
  for (Segment s : path) {
    if (s.to <= from) continue;
    s.from = std::max(s.from, from);
    out.push_back(s);
  }
  return out;
}

void add_links(const Lowered& l, const Timeline& t, const PathTotals& path, Result& r) {
  const Usage u = usage(l.program, l.resources, t);
  for (std::size_t i = 0; i < l.resources.capacity.size(); ++i) {  // links, then limits that several links share
    const LinkId id = static_cast<LinkId>(i);
    const Bandwidth capacity = l.resources.capacity[id];
    const double bytes = u.link_bytes[id].count + (i < l.link_bytes.size() ? l.link_bytes[i] : 0);
    if (bytes <= 0) continue;
    LinkUse use;
    use.name = l.resources.link_names[id];
    use.capacity_GBps = to_GBps(capacity);
    use.carried_MB = bytes * 1e-6;
    use.busy_share = bytes / capacity.bytes_per_second / (to_ms(t.makespan) * 1e-3);
    use.cost_ms = to_ms(path.lost[id]);
    r.links.push_back(use);
  }
  std::stable_sort(r.links.begin(), r.links.end(), [](const LinkUse& a, const LinkUse& b) {
    return std::make_pair(a.cost_ms, a.busy_share) > std::make_pair(b.cost_ms, b.busy_share);
  });
}

void add_step(const Case& c, Lowered l, Result& r, bool first, bool detail) {
  PcieRule rule(*c.machine);
  Timeline t = run(l.program, l.resources, Sharing::max_min, &rule);
  const Time began = step_start(l, t), step = t.makespan - began;
  const PathTotals path = totals(l.program, l.resources, measured(critical_path(l.program, t), began));
  for (std::size_t i = 0; i < r.breakdown_ms.size(); ++i)
    r.breakdown_ms[i] += to_ms(path.work[i] + path.sharing[i]);
  r.steps_ms.push_back(to_ms(step));
  const bool shares = t.solves > 0;  // without flows both models are the same
  if (shares && detail) {
    const Timeline alone = run(l.program, l.resources, Sharing::alone);
    r.contention_ms += to_ms(step - (alone.makespan - step_start(l, alone)));
  }
  r.events += t.events;
  r.solves += t.solves;
  r.active_experts += l.active_experts;
  const Work work = work_of(l, c.profile->gpu);
  r.theoretical_min_ms += work.dram_bytes / c.profile->gpu.dram_Bps * 1e3;
  r.theoretical_min_unreplicated_ms += work.unreplicated_bytes / c.profile->gpu.dram_Bps * 1e3;
  r.flops_pct_of_peak += work.peak_seconds * 1e3 / to_ms(step) * 100;
  const double gpus = static_cast<double>(c.experiment.gpus.size());
  r.achieved_tflops += work.flop * gpus / to_ms(step) * 1e-9;
  if (!first) return;
  if (detail) r.expert_gemm = expert_gemm(c, l, t);
  r.paths = l.paths;
  std::stable_sort(r.paths.begin(), r.paths.end(), [](auto& a, auto& b) { return a.time_us > b.time_us; });
  r.rows = l.rows;
  r.graph = l.graph;
  r.ops = l.program.size();
  r.warnings.insert(r.warnings.end(), l.warnings.begin(), l.warnings.end());
  if (!detail) return;
  add_links(l, t, path, r);
  r.fingerprint = fingerprint(t);
  r.lowered = std::move(l);
  r.timeline = std::move(t);
}

void mean_over_steps(Result& r) {
  const auto n = static_cast<double>(r.steps_ms.size());
  for (double& v : r.breakdown_ms) v /= n;
  for (double* v : {&r.contention_ms, &r.active_experts, &r.theoretical_min_ms, &r.theoretical_min_unreplicated_ms,
                    &r.flops_pct_of_peak, &r.achieved_tflops})
    *v /= n;
  r.step_ms = std::accumulate(r.breakdown_ms.begin(), r.breakdown_ms.end(), 0.0);
}

void add_notes(const Case& c, Result& r) {
  for (const PathUse& p : r.paths)
    if (p.outside > 0)
      r.warnings.push_back(fmt::format("{} of {} calls of {} lie outside the fitted range", p.outside, p.calls, p.path));
  for (const std::string& u : c.stack.unknown) r.warnings.push_back("stack " + c.stack.name + ": " + u);
  for (const std::string& u : c.machine->unvalidated) r.warnings.push_back("machine " + c.machine->name + ": " + u);
}

}  // namespace

Time step_start(const Lowered& l, const Timeline& t) {
  Time from{0};
  for (const OpId op : l.before) from = std::max(from, t.end[op]);
  return from;
}

double Result::quantile_ms(double q) const {
  std::vector<double> sorted = steps_ms;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted.empty() ? 0 : sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double step_ms(const Case& c, const Tweaks& tweaks, Sharing sharing) {
  LowerOptions o;
  o.tweaks = tweaks;
  o.alone = sharing == Sharing::alone;
  const Lowered l = lower_step(c, o);
  PcieRule rule(*c.machine);
  const Timeline t = run(l.program, l.resources, sharing, o.alone ? nullptr : &rule);
  return to_ms(t.makespan - step_start(l, t));
}

Result evaluate(const Case& c, const EvaluateOptions& options) {
  const auto before = std::chrono::steady_clock::now();
  Result r;
  const Experiment& e = c.experiment;
  r.memory = memory_of(c);
  check_fits(r.memory, e.gpus);
  for (int s = 0; s < e.steps; ++s) {
    LowerOptions o;
    o.fold = options.fold;
    o.step = s;
    add_step(c, lower_step(c, o), r, s == 0, options.detail);
  }
  mean_over_steps(r);
  const GpuSpec& gpu = c.profile->gpu;
  const double fastest = std::max({gpu.bf16_flops, gpu.fp8_flops, gpu.fp4_flops}) * static_cast<double>(e.gpus.size());
  if (fastest > 0) r.achieved_pct_of_fastest_peak = r.achieved_tflops * 1e12 / fastest * 100;
  r.tpot_ms = r.step_ms;
  r.tokens_per_s = e.batch.sequences / (r.step_ms * 1e-3);
  r.tokens_per_s_per_sequence = r.tokens_per_s / e.batch.sequences;
  add_interval(c, r);
  add_speculation(c, r, options.detail);
  if (options.detail) add_drain(c, r);
  add_notes(c, r);
  if (options.what_if) {
    add_what_ifs(c, r);
    add_speculation_table(c, r);
  }
  if (options.detail) check_claims(c, r);
  r.host_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  return r;
}

}  // namespace moe
