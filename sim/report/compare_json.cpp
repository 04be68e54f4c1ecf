// A comparison for programs.
#include <nlohmann/json.hpp>

#include "report/compare.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Side& s) {
  if (!s.answered()) return {{"name", s.name}, {"source", s.source}, {"problem", s.problem}};
  Json breakdown = Json::object();
  for (const auto& [key, ms] : s.breakdown_ms) breakdown[key] = ms;
  return {{"name", s.name}, {"source", s.source}, {"step_ms", s.step_ms}, {"interval90_ms", {s.low_ms, s.high_ms}},
          {"tokens_per_s", s.tokens_per_s}, {"tokens_per_s_per_sequence", s.tokens_per_s_per_sequence},
          {"breakdown_ms", breakdown}, {"contention_ms", s.contention_ms}, {"theoretical_min_ms", s.min_ms},
          {"memory_gib", s.memory_gib}, {"kv_capacity_tokens", s.kv_capacity_tokens}, {"top_link", s.top_link}};
}

Json parts_json(const std::vector<Part>& parts, const char* key) {
  Json out = Json::array();
  for (const Part& p : parts)
    out.push_back({{key, p.name}, {"base_ms", p.base_ms}, {"other_ms", p.other_ms}, {"change_ms", p.change()}});
  return out;
}

Json one_json(const std::vector<Side>& sides, const Comparison& c) {
  return {{"base", sides[c.base].name}, {"other", sides[c.other].name}, {"ratio", c.ratio},
          {"difference_ms", c.difference_ms}, {"interval90_ms", {c.low_ms, c.high_ms}},
          {"exceeds_uncertainty", c.exceeds()}, {"interval_from", c.by_path ? "shared paths" : "independent intervals"},
          {"categories", parts_json(c.categories, "category")}, {"paths", parts_json(c.paths, "path")},
          {"verdict", verdict(sides, c)}};
}

}  // namespace

nlohmann::ordered_json comparison_json(const std::vector<Side>& sides) {
  Json out;
  out["schema"] = 1;
  out["sides"] = out["comparisons"] = out["differs"] = Json::array();
  for (const Side& s : sides) out["sides"].push_back(side_json(s));
  std::size_t base = 0;
  while (base < sides.size() && !sides[base].answered()) ++base;
  for (std::size_t i = base + 1; i < sides.size(); ++i)
    if (sides[i].answered()) out["comparisons"].push_back(one_json(sides, compare(sides, base, i)));
  for (const InputDifference& d : input_differences(sides)) out["differs"].push_back({{"key", d.key}, {"values", d.values}});
  if (const std::string other = incomparable(sides); !other.empty()) out["incomparable"] = other;
  return out;
}

}  // namespace moe
