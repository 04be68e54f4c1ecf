// Where the ranking flips, for people and programs.
#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/compare.hpp"
#include "report/flip.hpp"

namespace moe {
namespace {

/// By how much the leader leads the next, and whether that is more than we know.
std::string lead(const FlipPoint& p) {
  if (p.leader < 0) return "—";
  const auto best = static_cast<std::size_t>(p.leader);
  int second = -1;
  for (std::size_t i = 0; i < p.sides.size(); ++i)
    if (i != best && p.sides[i].answered() &&
        (second < 0 || p.sides[i].tokens_per_s > p.sides[static_cast<std::size_t>(second)].tokens_per_s))
      second = static_cast<int>(i);
  if (second < 0) return p.sides[best].name + ", the only one with an answer";
  const Comparison c = compare(p.sides, static_cast<std::size_t>(second), best);
  if (c.ratio == 1) return "equal";
  return fmt::format("{}, {:.1f} %{}", p.sides[best].name, (c.ratio - 1) * 100, c.exceeds() ? "" : " (within the uncertainty)");
}

std::string between(const Flip& flip, const Crossing& c, const std::vector<Side>& sides) {
  const std::string& from = sides[static_cast<std::size_t>(c.from)].name;
  const std::string& to = sides[static_cast<std::size_t>(c.to)].name;
  if (c.open) return fmt::format("The fastest changes from {} to {} between {} {:.0f} and {:.0f}.", from, to, flip.key, c.before, c.after);
  return fmt::format("The fastest changes from {} to {} at {} {:.0f}.", from, to, flip.key, c.after);
}

}  // namespace

std::string flip_text(const Flip& flip) {
  const std::vector<Side>& names = flip.points.front().sides;
  TextTable t("r" + std::string(names.size(), 'r') + "l");
  std::vector<std::string> head{flip.key};
  std::map<std::string, std::string> notes;  // by side, of the first value without an answer
  for (const Side& s : names) head.push_back(s.name);
  head.emplace_back("faster");
  t.row(head);
  for (const FlipPoint& p : flip.points) {
    std::vector<std::string> cells{fmt::format("{:.0f}", p.value)};
    for (const Side& s : p.sides) {
      cells.push_back(s.answered() ? significant(s.step_ms) + " ms" : "—");
      if (!s.answered()) notes.emplace(s.name, fmt::format("  — {} at {:.0f}: {}\n", s.name, p.value, s.problem));
    }
    cells.push_back(lead(p));
    t.row(cells);
  }
  std::string out = fmt::format("\nwhere the ranking flips   step by {}\n", flip.key) + t.render();
  for (const auto& [name, note] : notes) out += note;
  for (const Crossing& c : flip.crossings) out += between(flip, c, names) + "\n";
  if (flip.crossings.empty()) out += fmt::format("The ranking does not flip in {} {:.0f} to {:.0f} where all have an answer.\n", flip.key,
                                                 flip.points.front().value, flip.points.back().value);
  return out;
}

nlohmann::ordered_json flip_json(const Flip& flip) {
  using Json = nlohmann::ordered_json;
  Json out{{"key", flip.key}, {"points", Json::array()}, {"crossings", Json::array()}};
  for (const FlipPoint& p : flip.points) {
    Json sides = Json::array();
    for (const Side& s : p.sides) {
      Json one{{"name", s.name}};
      if (s.answered()) one["step_ms"] = s.step_ms, one["tokens_per_s"] = s.tokens_per_s;
      else one["problem"] = s.problem;
      sides.push_back(one);
    }
    out["points"].push_back({{"value", p.value}, {"sides", sides}});
  }
  const std::vector<Side>& names = flip.points.front().sides;
  for (const Crossing& c : flip.crossings)
    out["crossings"].push_back({{"from", names[static_cast<std::size_t>(c.from)].name}, {"to", names[static_cast<std::size_t>(c.to)].name},
                                {"last_before", c.before}, {"first_after", c.after}, {"exact", !c.open}});
  return out;
}

}  // namespace moe
