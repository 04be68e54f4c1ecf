#include "report/flip.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/quantity.hpp"

namespace moe {
namespace {

constexpr double kFineEnough = 0.01;  // of the value: contexts need no exact token

FlipPoint point_at(double value, const EvaluateAt& evaluate) {
  FlipPoint p{value, evaluate(value), -1};
  double best = 0;
  for (std::size_t i = 0; i < p.sides.size(); ++i)
    if (p.sides[i].answered() && p.sides[i].tokens_per_s > best) {
      best = p.sides[i].tokens_per_s;
      p.leader = static_cast<int>(i);
    }
  return p;
}

bool all_answered(const FlipPoint& p) {
  return std::all_of(p.sides.begin(), p.sides.end(), [](const Side& s) { return s.answered(); });
}

/// Narrows down where the leader of `low` stops leading.
Crossing bisect(const FlipPoint& low, const FlipPoint& high, const EvaluateAt& evaluate) {
  Crossing c{low.value, high.value, low.leader, high.leader, false};
  while (c.after - c.before > 1) {
    if (c.after - c.before < kFineEnough * c.before) {
      c.open = true;
      break;
    }
    const FlipPoint middle = point_at(std::floor((c.before + c.after) / 2), evaluate);
    if (!all_answered(middle)) {
      c.open = true;
      break;
    }
    if (middle.leader == c.from) {
      c.before = middle.value;
    } else {
      c.after = middle.value;
      c.to = middle.leader;
    }
  }
  return c;
}

double whole(const std::string& text, const std::string& axis) {
  const Parsed p = parse_quantity(text, Unit::count);
  if (!p.problem.empty() || p.value < 0)
    throw InputError(fmt::format("`--flip {}`: `{}` is not a whole number\n  = help: write it like `--flip batch=1..512`", axis, text));
  return p.value;
}

std::string full_key(const std::string& word, const std::vector<std::string>& known) {
  if (word == "batch") return "batch.sequences";
  if (word.starts_with("stack.") || std::find(known.begin(), known.end(), word) != known.end()) return word;
  std::vector<std::string> fits, last_words;
  for (const std::string& k : known) {
    last_words.push_back(k.substr(k.find_last_of('.') + 1));
    if (last_words.back() == word && std::find(fits.begin(), fits.end(), k) == fits.end()) fits.push_back(k);
  }
  if (fits.size() == 1) return fits[0];
  if (fits.empty()) throw InputError(fmt::format("no key `{}`\n  = help: {}", word, suggestion(word, last_words)));
  std::string list;
  for (const std::string& f : fits) list += (list.empty() ? "" : ", ") + f;
  throw InputError(fmt::format("`{}` is ambiguous\n  = help: write one of {}", word, list));
}

}  // namespace

FlipAxis parse_flip_axis(const std::string& text, const std::vector<std::string>& known) {
  const std::size_t equal = text.find('='), dots = text.find("..", equal == std::string::npos ? 0 : equal);
  if (equal == std::string::npos || equal == 0 || dots == std::string::npos)
    throw InputError(fmt::format("`--flip {}` is not a range\n  = help: write it like `--flip batch=1..512`", text));
  FlipAxis axis{full_key(text.substr(0, equal), known), whole(text.substr(equal + 1, dots - equal - 1), text),
                whole(text.substr(dots + 2), text)};
  if (axis.last <= axis.first)
    throw InputError(fmt::format("`--flip {}` ends before it begins\n  = help: write it like `--flip batch=1..512`", text));
  return axis;
}

Flip find_flip(const FlipAxis& axis, const EvaluateAt& evaluate) {
  Flip flip{axis.key, {}, {}};
  for (double v = axis.first;; v = std::min(axis.last, std::max(2 * v, v + 1))) {
    flip.points.push_back(point_at(v, evaluate));
    if (v >= axis.last) break;
  }
  for (std::size_t i = 1; i < flip.points.size(); ++i) {
    const FlipPoint &low = flip.points[i - 1], &high = flip.points[i];
    if (all_answered(low) && all_answered(high) && low.leader != high.leader)
      flip.crossings.push_back(bisect(low, high, evaluate));
  }
  return flip;
}

}  // namespace moe
