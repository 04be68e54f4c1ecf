// The speculation part of the summary and of result.json.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/speculation_text.hpp"

namespace moe {
namespace {

std::string times(double v) { return fmt::format("{:.2f}x", v); }

/// By batch: the step without and with drafts, the best k.
std::string table(const SpeculationResult& s) {
  std::map<int, std::vector<const SpeculationPoint*>> rows;
  for (const SpeculationPoint& p : s.table) rows[p.batch].push_back(&p);
  TextTable t("rrrrrrr");
  t.row({"batch", "TPOT, no drafts", fmt::format("TPOT, k {}", s.k), "gain", "breaks even at", "best k", "gain"});
  for (const auto& [batch, points] : rows) {
    const auto own = std::find_if(points.begin(), points.end(), [&](auto* p) { return p->k == s.k; });
    const auto best = std::max_element(points.begin(), points.end(), [](auto* a, auto* b) {
      return (a->extrapolated ? 0 : a->speedup) < (b->extrapolated ? 0 : b->speedup);
    });
    if (own == points.end()) continue;
    t.row({std::to_string(batch), significant(points[0]->tpot_ms) + " ms", significant((*own)->tpot_ms) + " ms",
           times((*own)->speedup), fmt::format("{:.2f} tokens", (*own)->break_even_length), std::to_string((*best)->k), times((*best)->speedup)});
  }
  return t.render();
}

std::string list(const std::vector<double>& shares) {
  std::string out;
  for (const double v : shares) out += fmt::format("{}{:.0f} %", out.empty() ? "" : ", ", v * 100);
  return out;
}

}  // namespace

std::string speculation_text(const SpeculationResult& s) {
  if (!s.on) return {};
  TextTable t("lrl");
  t.row({"acceptance length", fmt::format("{:.2f} tokens", s.acceptance_length),
         fmt::format("of {}, per position {}{}", s.k + 1, list(s.per_position), s.high > s.low ? fmt::format("; 90 % {:.2f} to {:.2f}", s.low, s.high) : "")});
  t.row({"breaks even at", fmt::format("{:.2f} tokens", s.break_even_length), "step with drafts over step without"});
  t.row({"step without drafts", significant(s.step_without_ms) + " ms", fmt::format("verify {} ms, draft {} ms", significant(s.verify_ms), significant(s.draft_ms))});
  t.row({"speed-up", times(s.speedup), fmt::format("TPOT 90 % interval {} to {} ms", significant(s.tpot_low_ms), significant(s.tpot_high_ms))});
  if (s.served_length != s.acceptance_length)
    t.row({"sequences differ", fmt::format("{:.2f} tokens", s.served_length),
           fmt::format("per step of a refilled batch; the slowest of the batch {:.2f}", s.slowest_length)});
  std::string out = t.render();
  if (s.table.empty()) return out;
  out += "\n" + table(s);
  std::string losing;
  for (const SpeculationPoint& p : s.table)
    if (p.k == s.k && p.speedup <= 1) losing += fmt::format("{}{}", losing.empty() ? "" : ", ", p.batch);
  if (losing.empty()) return out + fmt::format("  {} drafts pay at every batch that fits, up to {}\n", s.k, s.table.back().batch);
  out += fmt::format("  {} drafts do not pay at batch {}", s.k, losing);
  return out + (s.break_even_batch > 0 ? fmt::format("; never beyond {:.0f}\n", s.break_even_batch) : "\n");
}

nlohmann::ordered_json speculation_json(const SpeculationResult& s) {
  nlohmann::ordered_json out = {
      {"method", s.method}, {"k", s.k}, {"acceptance_length", s.acceptance_length}, {"acceptance_interval90", {s.low, s.high}},
      {"per_position", s.per_position}, {"accepted_distribution", s.accepted}, {"acceptance_source", s.source},
      {"served_length", s.served_length}, {"slowest_length", s.slowest_length},
      {"tpot_interval90_ms", {s.tpot_low_ms, s.tpot_high_ms}}, {"verify_ms", s.verify_ms}, {"draft_ms", s.draft_ms},
      {"step_without_ms", s.step_without_ms}, {"speedup", s.speedup}, {"break_even_length", s.break_even_length}};
  if (s.table.empty()) return out;
  out["best_k"] = s.best_k;
  out["break_even_batch"] = s.break_even_batch > 0 ? nlohmann::ordered_json(s.break_even_batch) : nlohmann::ordered_json(nullptr);
  out["table"] = nlohmann::ordered_json::array();
  for (const SpeculationPoint& p : s.table)
    out["table"].push_back({{"batch", p.batch}, {"k", p.k}, {"step_ms", p.step_ms}, {"acceptance_length", p.acceptance_length},
                            {"tpot_ms", p.tpot_ms}, {"speedup", p.speedup}, {"extrapolated", p.extrapolated}, {"break_even_length", p.break_even_length}});
  return out;
}

}  // namespace moe
