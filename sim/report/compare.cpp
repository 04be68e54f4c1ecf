#include "report/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "report/uncertainty.hpp"

namespace moe {
namespace {

/// The same fit on both sides: errors are shared.
bool same_file(const Side& a, const Side& b, const std::string& role) {
  const SideFile *fa = a.file_of(role), *fb = b.file_of(role);
  return fa != nullptr && fb != nullptr && fa->hash == fb->hash;
}

double value_of(const std::vector<std::pair<std::string, double>>& all, const std::string& key) {
  for (const auto& [k, v] : all)
    if (k == key) return v;
  return 0;
}

double squared(double x) { return x * x; }

/// Errors of base and other, in ms: of one cause when shared, of two when not.
double variance(double base, double other, bool shared) {
  return shared ? squared(other - base) : squared(other) + squared(base);
}

struct PathPair {
  SidePath base, other;
};

std::map<std::string, PathPair> paired(const Side& base, const Side& other) {
  std::map<std::string, PathPair> all;
  for (const SidePath& p : base.paths) all[p.path].base = p;
  for (const SidePath& p : other.paths) all[p.path].other = p;
  return all;
}

/// Standard deviation of the difference. `scale`: what one step of `other` weighs in steps of `base`.
double sigma_by_path(const Side& base, const Side& other, double scale) {
  const bool shared = same_file(base, other, "profile");
  double sum = 0;
  for (const auto& [name, p] : paired(base, other))
    sum += variance(p.base.time_ms * p.base.spread, scale * p.other.time_ms * p.other.spread, shared);
  sum += variance(value_of(base.breakdown_ms, "host") * kGapSpread,
                  scale * value_of(other.breakdown_ms, "host") * kGapSpread, same_file(base, other, "stack"));
  return std::sqrt(sum);
}

double sigma_of_intervals(const Side& base, const Side& other, double scale) {
  const double b = (base.high_ms - base.low_ms) / 2, o = scale * (other.high_ms - other.low_ms) / 2;
  return std::sqrt(b * b + o * o) / kNormal90;
}

void sort_by_change(std::vector<Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return std::abs(a.change()) > std::abs(b.change()); });
}

}  // namespace

Comparison compare(const std::vector<Side>& sides, std::size_t base_at, std::size_t other_at) {
  const Side &base = sides[base_at], &other = sides[other_at];
  Comparison c;
  c.base = base_at;
  c.other = other_at;
  c.ratio = other.tokens_per_s / base.tokens_per_s;
  const double equivalent = base.step_ms / c.ratio;  // what the base does in a step takes the other side this long
  const double scale = equivalent / other.step_ms;
  c.difference_ms = equivalent - base.step_ms;
  c.by_path = !base.paths.empty() && !other.paths.empty();
  const double half =
      kNormal90 * (c.by_path ? sigma_by_path(base, other, scale) : sigma_of_intervals(base, other, scale));
  c.low_ms = c.difference_ms - half;
  c.high_ms = c.difference_ms + half;
  for (const auto& [name, ms] : base.breakdown_ms) c.categories.push_back({name, ms, value_of(other.breakdown_ms, name)});
  for (const auto& [name, ms] : other.breakdown_ms) {
    const auto known = [&, &key = name](const auto& p) { return p.first == key; };
    if (std::none_of(base.breakdown_ms.begin(), base.breakdown_ms.end(), known)) c.categories.push_back({name, 0, ms});
  }
  for (const auto& [name, p] : paired(base, other))
    if (p.base.time_ms != p.other.time_ms) c.paths.push_back({name, p.base.time_ms, p.other.time_ms});
  sort_by_change(c.categories);
  sort_by_change(c.paths);
  return c;
}

std::string verdict(const std::vector<Side>& sides, const Comparison& c) {
  const std::string &base = sides[c.base].name, &other = sides[c.other].name;
  if (c.difference_ms == 0) return fmt::format("{} and {} are equally fast.", other, base);
  const bool faster = c.ratio > 1;
  const double ratio = faster ? c.ratio : 1 / c.ratio;
  const std::string interval =
      fmt::format("{} takes {} ms per step, 90 % interval {} to {} ms", other, signed_number(c.difference_ms),
                  signed_number(c.low_ms), signed_number(c.high_ms));
  const char* how = c.by_path ? "" : ", as if their errors were independent";
  if (!c.exceeds())
    return fmt::format("Undecided: {} is simulated {:.1f} % {} than {}, which is within the uncertainty: {}{}.", other,
                       (ratio - 1) * 100, faster ? "faster" : "slower", base, interval, how);
  return fmt::format("{} is {:.{}f} times as fast as {}, which exceeds the uncertainty: {}{}.", faster ? other : base,
                     ratio, ratio < 1.1 ? 3 : 2, faster ? base : other, interval, how);
}

}  // namespace moe
