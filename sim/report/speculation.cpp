// What do drafts buy? Time per token = step / acceptance length; a step with drafts is longer, because it drafts and
// because more tokens touch more experts.
//
//   speed-up(k)    = step(0) length(k) / step(k)
//   break-even     length at which it is 1: step(k) / step(0)
//   TPOT interval  errors of step and acceptance are independent: their logarithms add in quadrature
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "config/diagnostic.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

constexpr int kMostDrafts = 7;
constexpr int kLargestBatch = 512;

int replica_batch(const Case& c) { return slice(c.experiment.batch, 0, c.experiment.plan.replicas).sequences; }

/// Sets `other`, a copy of `c`, to another batch and number of drafts, adaptive entries set aside. One copy serves a table.
void move_to(const Case& c, int batch, int k, Case& other) {
  other.experiment.speculation.k = k;
  other.experiment.speculation.adaptive.clear();
  const bool same = batch == c.experiment.batch.sequences;
  other.experiment.batch.context = same ? c.experiment.batch.context : std::vector<double>{c.experiment.batch.mean_context()};
  other.experiment.batch.sequences = batch;
}

double length_at(const Case& c, int k, int batch) {
  const Speculation& s = c.experiment.speculation;
  return acceptance_length(survival(s.acceptance, k, batch, s.k));
}

double root_sum(double a, double b) { return std::sqrt(a * a + b * b); }

std::vector<int> table_batches(int of_run) {
  std::vector<int> out;
  for (int b = 1; b <= kLargestBatch; b *= 2) out.push_back(b);
  if (std::find(out.begin(), out.end(), of_run) == out.end()) out.push_back(of_run);
  std::sort(out.begin(), out.end());
  return out;
}

/// Largest number of drafts that the acceptance was measured with.
int measured_drafts(const Speculation& s) {
  const Acceptance& a = s.acceptance;
  if (!a.per_position.empty()) return static_cast<int>(a.per_position.size());
  return a.drafts > 0 ? a.drafts : s.k;
}

/// Batch beyond which the speed-up of `k` stays at or below 1, between table rows on a logarithmic scale; 0: none. A gain
/// may come back: once all experts are touched anyway, further tokens cost little.
double crossing(const std::vector<SpeculationPoint>& table, int k) {
  const SpeculationPoint* before = nullptr;
  double batch = 0;
  for (const SpeculationPoint& p : table) {
    if (p.k != k) continue;
    if (p.speedup > 1) batch = 0;
    else if (before == nullptr) batch = p.batch;
    else if (batch <= 0) {
      const double share = std::log(before->speedup) / (std::log(before->speedup) - std::log(p.speedup));
      batch = before->batch * std::pow(static_cast<double>(p.batch) / before->batch, share);
    }
    before = &p;
  }
  return batch;
}

}  // namespace

Memory memory_of(const Case& c) {
  const Experiment& e = c.experiment;
  const Layout layout = layout_of(e.plan, c.model);
  const Batch batch = slice(e.batch, 0, e.plan.replicas);
  const int k = e.speculation.drafts(batch.sequences);
  DraftShare share;
  if (k > 0 && c.draft != nullptr)
    share = draft_share(c.draft->model, c.draft->weights(), layout, e.kv_dtype, e.speculation.tp > 0 ? e.speculation.tp : layout.tp,
                        c.draft->copies, c.draft->fused_states, c.draft->own_embedding, c.draft->own_head);
  share.state_copies = k + 1;
  return memory_of(c.model, c.weights(), layout, e.kv_dtype, batch, c.profile->gpu,
                   e.memory_fraction > 0 ? e.memory_fraction : c.stack.memory_fraction,
                   e.memory_reserve_bytes >= 0 ? e.memory_reserve_bytes : c.stack.reserve_bytes, share);
}

void add_speculation(const Case& c, Result& r, bool compares) {
  const Speculation& spec = c.experiment.speculation;
  const int batch = replica_batch(c), k = spec.drafts(batch);
  SpeculationResult& s = r.speculation;
  if (k == 0) return;
  s.on = true;
  s.method = kSpeculationNames[static_cast<int>(spec.method)];
  s.source = !spec.acceptance.source.empty() ? spec.acceptance.source : spec.acceptance.trace;
  s.k = k;
  s.per_position = survival(spec.acceptance, k, batch, spec.k);
  s.acceptance_length = acceptance_length(s.per_position);
  s.accepted = accepted_distribution(s.per_position);
  s.served_length = served_length(s.acceptance_length, spec.acceptance.spread, k);
  s.slowest_length = slowest_length(s.acceptance_length, spec.acceptance.spread, k, batch);
  // The interval is that of the measurement: as wide, relative to the mean, at another k.
  const double measured = spec.acceptance.low > 0 ? length_at(c, spec.acceptance.drafts > 0 ? spec.acceptance.drafts : spec.k, batch) : 1;
  s.low = spec.acceptance.low > 0 ? std::max(1.0, s.acceptance_length * spec.acceptance.low / measured) : s.acceptance_length;
  s.high = spec.acceptance.low > 0 ? std::min(k + 1.0, s.acceptance_length * spec.acceptance.high / measured) : s.acceptance_length;
  r.tpot_ms = r.step_ms / s.acceptance_length;
  r.tokens_per_s *= s.acceptance_length;
  r.tokens_per_s_per_sequence *= s.acceptance_length;
  s.tpot_low_ms = r.tpot_ms * std::exp(-root_sum(std::log(r.step_ms / std::max(1e-9, r.interval_low_ms)), std::log(s.high / s.acceptance_length)));
  s.tpot_high_ms = r.tpot_ms * std::exp(root_sum(std::log(r.interval_high_ms / r.step_ms), std::log(s.acceptance_length / s.low)));
  s.draft_ms = r.breakdown_ms[static_cast<std::size_t>(Category::draft)];
  s.verify_ms = r.step_ms - s.draft_ms;
  if (!compares) return;
  Case without = c;
  move_to(c, c.experiment.batch.sequences, 0, without);
  s.step_without_ms = step_ms(without, {});
  s.break_even_length = r.step_ms / s.step_without_ms;
  s.speedup = s.acceptance_length / s.break_even_length;
}

void add_speculation_table(const Case& c, Result& r) {
  SpeculationResult& s = r.speculation;
  if (!s.on) return;
  const int most = c.experiment.speculation.tree_budget > 0 ? s.k : std::max(s.k, kMostDrafts);
  Case other = c;
  for (const int batch : table_batches(c.experiment.batch.sequences)) {
    double without = 0;
    for (int k = 0; k <= most; ++k) {
      if (c.experiment.speculation.tree_budget > 0 && k > 0 && k < most) continue;
      move_to(c, batch, k, other);
      try {
        check_fits(memory_of(other), other.experiment.gpus);
        SpeculationPoint p;
        p.batch = batch;
        p.k = k;
        p.step_ms = step_ms(other, {});
        if (k == 0) without = p.step_ms;
        p.acceptance_length = length_at(c, k, replica_batch(other));
        p.tpot_ms = p.step_ms / p.acceptance_length;
        p.break_even_length = p.step_ms / without;
        p.speedup = p.acceptance_length / p.break_even_length;
        p.extrapolated = k > measured_drafts(c.experiment.speculation);
        s.table.push_back(p);
      } catch (const Infeasible&) {
        break;  // more drafts, and larger batches, need more memory
      }
    }
  }
  s.break_even_batch = crossing(s.table, s.k);
  double best = 0;
  for (const SpeculationPoint& p : s.table)
    if (p.batch == c.experiment.batch.sequences && p.speedup > best && !p.extrapolated) best = p.speedup, s.best_k = p.k;
}

}  // namespace moe
