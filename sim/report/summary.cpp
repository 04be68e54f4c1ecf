#include "report/summary.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "report/claims_text.hpp"
#include "report/speculation_text.hpp"

namespace moe {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr std::size_t kBar = 30;

std::string heading(const TextStyle& s, std::string_view title, std::string_view note = {}) {
  const std::string text = s.colour ? fmt::format("\033[1m{}\033[0m", title) : std::string(title);
  return note.empty() ? "\n" + text + "\n" : fmt::format("\n{}   {}\n", text, note);
}

std::string headline(const Case& c, const Result& r) {
  const Experiment& e = c.experiment;
  const Memory& m = r.memory;
  std::string out = fmt::format("{}   {} {} · {} GPUs of {} · {} · batch {} · context {:.0f}\n", e.name, c.model.name,
                                e.checkpoint, e.gpus.size(), c.machine->name, plan_text(e.plan), e.batch.sequences,
                                e.batch.mean_context());
  if (!e.question.empty()) out += fmt::format("question   {}\n", e.question);
  TextTable t("lrl");
  const std::string what = r.steps_ms.size() > 1
                               ? fmt::format("mean of {} steps, p50 {}, p99 {}", r.steps_ms.size(), significant(r.quantile_ms(0.5)),
                                             significant(r.quantile_ms(0.99)))
                               : "simulated";
  t.row({"one decode step", significant(r.step_ms) + " ms",
         fmt::format("{}, 90 % interval {} to {} ms", what, significant(r.interval_low_ms), significant(r.interval_high_ms))});
  t.row({"time per output token", significant(r.tpot_ms) + " ms", r.speculation.on ? fmt::format("step over {:.2f} tokens accepted per step", r.speculation.acceptance_length)
                                                                                : std::string("no speculation: one token per step")});
  t.row({"throughput", grouped(r.tokens_per_s) + " tokens/s",
         fmt::format("{} tokens/s per sequence", significant(r.tokens_per_s_per_sequence))});
  t.row({"memory floor", significant(r.theoretical_min_ms) + " ms",
         fmt::format("bytes this plan reads per GPU at peak bandwidth ({} ms without replicas); the step is {:.1f} times that",
                     significant(r.theoretical_min_unreplicated_ms), r.step_ms / r.theoretical_min_ms)});
  t.row({"FLOPs", fmt::format("{:.2f} %", r.flops_pct_of_peak),
         fmt::format("of the tensor cores' peak, each op in its own format; {} TFLOP/s in all", significant(r.achieved_tflops))});
  t.row({"contention", significant(r.contention_ms) + " ms", "of the step, lost to transfers that share links"});
  t.row({"memory per GPU", fmt::format("{:.1f} GiB", m.ranks[0].total() / kGiB),
         fmt::format("weights {:.1f}, KV cache {:.1f}, reserve {:.1f}; the engine takes {:.1f}", m.ranks[0].weights_bytes / kGiB,
                     m.ranks[0].kv_bytes / kGiB, m.ranks[0].reserve_bytes / kGiB, m.ranks[0].budget_bytes / kGiB)});
  t.row({"KV capacity", grouped(m.kv_capacity_tokens) + " tokens",
         m.largest_batch > 0 ? fmt::format("{} sequences of this context", grouped(m.largest_batch)) : ""});
  if (r.active_experts > 0)
    t.row({"experts touched", fmt::format("{:.1f}", r.active_experts), "per MoE layer and GPU, mean"});
  return out + "\n" + t.render();
}

std::string spaced(std::string_view name) {
  std::string text(name);
  for (char& ch : text)
    if (ch == '_') ch = ' ';
  return text;
}

std::string breakdown(const Result& r, const TextStyle& s) {
  std::vector<double> parts(r.breakdown_ms.begin(), r.breakdown_ms.end()), shares;
  for (const double p : parts) shares.push_back(p / r.step_ms * 100);
  const auto ms = rounded_parts(parts, 3), percent = rounded_parts(shares, 1);
  TextTable t("lrrl");
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] > 0) t.row({spaced(kCategoryNames[i]), ms[i] + " ms", percent[i] + " %", bar(parts[i] / r.step_ms, kBar)});
  t.row({"total", fmt::format("{:.3f} ms", r.step_ms), "100.0 %", ""});
  return heading(s, "where the step goes", "critical path, adds up to 100 %") + t.render();
}

std::string kernels(const Result& r, const TextStyle& s) {
  TextTable t("lrrr");
  t.row({"kernel path or collective", "calls", "time", "fit"});
  for (std::size_t i = 0; i < r.paths.size() && i < 8; ++i) {
    const PathUse& p = r.paths[i];
    t.row({p.path, std::to_string(p.calls), fmt::format("{:.3f} ms", p.time_us * 1e-3),
           fmt::format("±{:.0f} %{}", 164.5 * p.spread, p.outside > 0 ? ", outside its range" : "")});
    if (!p.reason.empty()) t.row({"  " + p.reason, "", "", ""});
  }
  return heading(s, "what runs", "per GPU; fit: 90 % of measured shapes lie within") + t.render();
}

std::string links(const Result& r, const TextStyle& s) {
  if (r.links.empty()) return {};
  TextTable t("lrrrlr");
  const std::size_t shown = s.links == 0 ? r.links.size() : std::min(s.links, r.links.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LinkUse& l = r.links[i];
    t.row({l.name, fmt::format("{:.1f} GB/s", l.capacity_GBps), fmt::format("{:.1f} MB", l.carried_MB),
           fmt::format("busy {:.1f} %", l.busy_share * 100), bar(l.busy_share, 12), fmt::format("cost {:.3f} ms", l.cost_ms)});
  }
  std::string out = heading(s, "links that carry the most", "bytes over capacity; cost: of the step, by sharing") + t.render();
  if (shown < r.links.size()) out += fmt::format("  … {} more: --links all\n", r.links.size() - shown);
  return out;
}

std::string what_if(const Result& r, const TextStyle& s) {
  if (r.what_if.empty()) return {};
  TextTable t("lrr");
  for (const WhatIf& w : r.what_if) {
    if (w.problem.empty())
      t.row({w.name, significant(w.step_ms) + " ms", fmt::format("{:+.1f} %", (w.step_ms / r.step_ms - 1) * 100)});
    else t.row({w.name, "—", w.problem});
  }
  return heading(s, "what would help", "the same step, simulated again with one change") + t.render();
}

std::string speculation(const Result& r, const TextStyle& s) {
  if (!r.speculation.on) return {};
  return heading(s, "does speculation pay?", fmt::format("{}, {} drafts per step", r.speculation.method, r.speculation.k)) +
         speculation_text(r.speculation);
}

std::string drain(const Result& r, const TextStyle& s) {
  if (!r.drain.on) return {};
  const DrainResult& d = r.drain;
  TextTable t("lrl");
  t.row({"batch has drained after", significant(d.seconds) + " s", fmt::format("90 % interval {} to {} s; half of the sequences after {} s", significant(d.low), significant(d.high), significant(d.half_seconds))});
  t.row({"throughput", grouped(d.tokens_per_s) + " tokens/s", fmt::format("mean over the time, {:.1f} sequences running", d.mean_batch)});
  if (d.seconds_without > 0) t.row({"without drafts", significant(d.seconds_without) + " s", fmt::format("{:.2f}x the time", d.seconds_without / d.seconds)});
  return heading(s, "if the batch is not refilled", "sequences finish one after the other") + t.render();
}

std::string claims(const Result& r, const TextStyle& s) {
  return r.claims.empty() ? std::string() : heading(s, "claims") + claims_text(r.claims);
}

std::string footer(const Case& c, const Result& r) {
  TextTable t("ll");
  t.row({"model", fmt::format("max-min links · profile {} · stack {} · routing seed {}", c.profile->name, c.stack.name, c.experiment.routing.seed)});
  t.row({"host", fmt::format("{} ops, {} events, {} solves in {} ms", grouped(static_cast<double>(r.ops)), grouped(static_cast<double>(r.events)),
                             grouped(static_cast<double>(r.solves)), significant(r.host_ms))});
  t.row({"next", fmt::format("moe-sim run {} --out out/   (report.html, result.json, trace.json)", c.experiment.file)});
  return "\n" + t.render("");
}

}  // namespace

std::string summary(const Case& c, const Result& r, const TextStyle& s) {
  return headline(c, r) + breakdown(r, s) + kernels(r, s) + links(r, s) + speculation(r, s) + drain(r, s) + what_if(r, s) + claims(r, s) + footer(c, r);
}

}  // namespace moe
