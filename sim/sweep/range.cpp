#include "sweep/range.hpp"

#include <fmt/core.h>

#include <cctype>
#include <cmath>

#include "config/diagnostic.hpp"
#include "config/quantity.hpp"

namespace moe {
namespace {

constexpr double kMostValues = 100000;

struct Number {
  double value = 0;
  std::string unit;
};

[[noreturn]] void wrong(const std::string& text, const std::string& why) {
  throw InputError(fmt::format("`{}` is not a range: {}\n  = help: write `a..b`, `a..bx2` (times 2) or `a..b+s` (plus s)", text, why));
}

/// "64k" -> 64, "k". `x` and `+` never belong to a unit here.
Number number_of(const std::string& text, const std::string& whole) {
  std::size_t end = 0;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
  const Parsed parsed = parse_number(text.substr(0, end));
  if (!parsed.problem.empty()) wrong(whole, fmt::format("`{}` is not a number", text));
  std::string unit = text.substr(end);
  while (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  return {parsed.value, unit};
}

/// A count with k or M becomes a plain number, so that 512..4k works.
void make_plain(Number& n) {
  const double factor = n.unit == "k" ? 1024 : n.unit == "M" ? 1024.0 * 1024 : 1;
  if (factor > 1) n = {n.value * factor, ""};
}

struct Parts {
  Number first, last, step;
  bool times = false;
};

Parts parts_of(const std::string& text, std::size_t dots) {
  Parts p;
  std::string last = text.substr(dots + 2);
  const std::size_t mark = last.find_first_of("x+");
  std::string step = "1";
  if (mark != std::string::npos) {
    p.times = last[mark] == 'x';
    step = last.substr(mark + 1);
    last = last.substr(0, mark);
  }
  p.first = number_of(text.substr(0, dots), text);
  p.last = number_of(last, text);
  p.step = number_of(step, text);
  if (p.times && !p.step.unit.empty()) {  // "10..40x2 GB/s": the unit belongs to all
    p.last.unit = p.step.unit;
    p.step.unit.clear();
  }
  if (p.first.unit.empty() && !p.step.unit.empty()) p.first.unit = p.last.unit = p.step.unit;
  const bool same = p.first.unit == p.last.unit && (p.times || p.step.unit == p.first.unit || mark == std::string::npos);
  if (!same) {
    for (Number* n : {&p.first, &p.last}) make_plain(*n);
    if (!p.times) make_plain(p.step);
    if (p.first.unit.empty() && !p.last.unit.empty()) p.first.unit = p.last.unit;
  }
  if (p.first.unit != p.last.unit) wrong(text, fmt::format("`{}` and `{}` are different units", p.first.unit, p.last.unit));
  return p;
}

}  // namespace

std::vector<std::string> expand_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  const bool number_first = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
  if (dots == std::string::npos || !number_first) return {text};
  const Parts p = parts_of(text, dots);
  if (p.last.value < p.first.value) wrong(text, "it ends before it begins");
  if (p.times ? p.step.value <= 1 || p.first.value <= 0 : p.step.value <= 0)
    wrong(text, p.times ? "it must grow: a factor above 1 and a start above 0" : "the step must be above 0");
  std::vector<std::string> out;
  const double slack = 1e-9 * p.last.value;
  for (int i = 0;; ++i) {
    const double v = p.times ? p.first.value * std::pow(p.step.value, i) : p.first.value + i * p.step.value;
    if (v > p.last.value + slack) break;
    if (static_cast<double>(out.size()) >= kMostValues) wrong(text, fmt::format("more than {:.0f} values", kMostValues));
    const bool letter = !p.first.unit.empty() && p.first.unit.size() > 1;
    out.push_back(fmt::format("{:.12g}{}{}", v, letter ? " " : "", p.first.unit));
  }
  return out;
}

}  // namespace moe
