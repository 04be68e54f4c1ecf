// A comparison for a terminal: one column per run, the difference by category, what differs, the verdict.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/compare.hpp"

namespace moe {
namespace {

constexpr std::size_t kShownInputs = 12, kShownPaths = 6, kBar = 20;

std::string percent_change(double base, double other) {
  if (base == other) return "=";
  if (base == 0) return "new";
  if (other == 0) return "gone";
  const double share = other / base - 1;
  if (share > 9) return "x " + significant(other / base);
  return std::abs(share) < 0.0005 ? "≈" : fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", std::abs(share) * 100);
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

double category(const Side& s, const std::string& name) {
  for (const auto& [key, ms] : s.breakdown_ms)
    if (key == name) return ms;
  return 0;
}

/// The side-by-side table; every column but the first is followed by its change against the first.
class SideBySide {
 public:
  explicit SideBySide(const std::vector<Side>& sides) : sides_(sides), table_(align(sides.size())) {
    std::vector<std::string> head{"", sides[0].name};
    for (std::size_t i = 1; i < sides.size(); ++i) head.insert(head.end(), {sides[i].name, "change"});
    table_.row(head);
  }

  template <class Value, class Print>
  void row(const std::string& label, Value value, Print print) {
    std::vector<std::string> cells{label};
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const bool answered = sides_[i].answered();
      cells.push_back(answered ? print(value(sides_[i])) : "—");
      if (i > 0) cells.push_back(answered && sides_[0].answered() ? percent_change(value(sides_[0]), value(sides_[i])) : "");
    }
    table_.row(cells);
  }
  /// `changed(first, other)`: what to say where they are not alike.
  template <class Text, class Changed>
  void text_row(const std::string& label, Text text, Changed changed) {
    std::vector<std::string> cells{label};
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      cells.push_back(sides_[i].answered() ? text(sides_[i]) : "—");
      if (i > 0) cells.push_back(sides_[i].answered() && sides_[0].answered() ? changed(sides_[0], sides_[i]) : "");
    }
    table_.row(cells);
  }
  std::string render() const { return table_.render(); }

 private:
  static std::string align(std::size_t sides) { return "l" + std::string(2 * sides - 1, 'r'); }
  const std::vector<Side>& sides_;
  TextTable table_;
};

std::string side_by_side(const std::vector<Side>& sides) {
  const auto ms = [](double v) { return fmt::format("{:.3f} ms", v); };
  SideBySide t(sides);
  t.row("step", [](const Side& s) { return s.step_ms; }, ms);
  t.text_row("  90 % interval", [](const Side& s) { return significant(s.low_ms) + " to " + significant(s.high_ms); },
             [](const Side&, const Side&) { return ""; });
  t.row("tokens/s", [](const Side& s) { return s.tokens_per_s; }, significant);
  t.row("  per sequence", [](const Side& s) { return s.tokens_per_s_per_sequence; }, significant);
  const auto known = std::find_if(sides.begin(), sides.end(), [](const Side& s) { return s.answered(); });
  for (const auto& [name, ignored] : known == sides.end() ? sides[0].breakdown_ms : known->breakdown_ms) {
    const auto of = [&, &key = name](const Side& s) { return category(s, key); };
    if (std::any_of(sides.begin(), sides.end(), [&](const Side& s) { return of(s) > 0; }))
      t.row(spaced(name), of, [](double v) { return v == 0 ? std::string("-") : fmt::format("{:.3f}", v); });
  }
  t.row("contention", [](const Side& s) { return s.contention_ms; }, ms);
  t.row("memory floor", [](const Side& s) { return s.min_ms; }, ms);
  t.row("memory per GPU", [](const Side& s) { return s.memory_gib; },
        [](double v) { return fmt::format("{:.1f} GiB", v); });
  t.row("KV capacity", [](const Side& s) { return s.kv_capacity_tokens; },
        [](double v) { return grouped(v) + " tokens"; });
  t.text_row("top link", [](const Side& s) { return s.top_link.empty() ? "-" : s.top_link; },
             [](const Side& a, const Side& b) {
               const auto link = [](const Side& s) { return s.top_link.substr(0, s.top_link.find(',')); };
               return link(a) == link(b) ? "" : "moved";
             });
  return t.render();
}

/// "all reduce  −1.240 ms  61 %  ████", largest first.
std::string attribution(const std::vector<Side>& sides, const Comparison& c) {
  std::vector<double> changes;
  double largest = 0, sum = 0;
  for (const Part& p : c.categories) {
    changes.push_back(p.change());
    sum += p.change();
    largest = std::max(largest, std::abs(p.change()));
  }
  if (largest == 0) return {};
  TextTable t("lrl");
  const std::vector<std::string> shown = rounded_parts(changes, 3);
  for (std::size_t i = 0; i < c.categories.size(); ++i)
    if (std::abs(changes[i]) > 0.0005)
      t.row({spaced(c.categories[i].name), (changes[i] < 0 ? "−" : "+") + fmt::format("{:.3f} ms", std::abs(std::stod(shown[i]))),
             bar(std::abs(changes[i]) / largest, kBar)});
  std::string out = fmt::format("\nwhere the difference comes from   {} against {}, adds up to {} ms\n", sides[c.other].name,
                                sides[c.base].name, signed_number(sum)) + t.render();
  TextTable paths("lrrr");
  paths.row({"kernel path or collective", sides[c.base].name, sides[c.other].name, "ms"});
  for (std::size_t i = 0; i < std::min(kShownPaths, c.paths.size()); ++i) {
    const Part& p = c.paths[i];
    paths.row({p.name, p.base_ms > 0 ? fmt::format("{:.3f}", p.base_ms) : "-", p.other_ms > 0 ? fmt::format("{:.3f}", p.other_ms) : "-",
               signed_number(p.change())});
  }
  return c.paths.empty() ? out : out + "\n" + paths.render();
}

/// "Fastest first: a 112.9 tokens/s, b 111.7 tokens/s, c 71.0 tokens/s." where there are more than two.
std::string ranking(const std::vector<Side>& sides) {
  std::vector<const Side*> answered;
  for (const Side& s : sides)
    if (s.answered()) answered.push_back(&s);
  if (answered.size() < 3) return {};
  std::stable_sort(answered.begin(), answered.end(), [](auto* a, auto* b) { return a->tokens_per_s > b->tokens_per_s; });
  std::string out;
  for (const Side* s : answered) out += fmt::format("{}{} {} tokens/s", out.empty() ? "Fastest first: " : ", ", s->name, significant(s->tokens_per_s));
  return out + ".\n";
}

std::string shown_value(const std::string& value) { return value.empty() ? "(not set)" : value; }

std::string differs(const std::vector<Side>& sides) {
  const std::vector<InputDifference> all = input_differences(sides);
  if (std::any_of(sides.begin(), sides.end(), [](const Side& s) { return s.inputs.empty(); }))
    return "\ndiffers in   unknown: a result carries no inputs\n";
  if (all.empty()) return "\ndiffers in   nothing: every resolved input and every file is the same\n";
  TextTable t("ll");
  for (std::size_t i = 0; i < std::min(all.size(), kShownInputs); ++i) {
    std::string values;
    for (const std::string& v : all[i].values) values += (values.empty() ? "" : " → ") + shown_value(v);
    t.row({all[i].key, values});
  }
  std::string out = "\ndiffers in\n" + t.render();
  if (all.size() > kShownInputs) out += fmt::format("  … {} more: --json\n", all.size() - kShownInputs);
  return out;
}

}  // namespace

std::string comparison_text(const std::vector<Side>& sides) {
  std::string out = side_by_side(sides), verdicts;
  for (const Side& s : sides)
    if (!s.answered()) out += fmt::format("  {}: no answer: {}\n", s.name, s.problem);
  const auto first = std::find_if(sides.begin(), sides.end(), [](const Side& s) { return s.answered(); });
  const auto base = static_cast<std::size_t>(first - sides.begin());
  for (std::size_t i = base + 1; i < sides.size(); ++i) {
    if (!sides[i].answered()) continue;
    const Comparison c = compare(sides, base, i);
    out += attribution(sides, c);
    verdicts += verdict(sides, c) + "\n";
  }
  verdicts += ranking(sides);
  const std::string other = incomparable(sides);
  if (!other.empty()) verdicts += fmt::format("Compared although they have {}.\n", other);
  return out + differs(sides) + "\n" + verdicts;
}

}  // namespace moe
