#include "search/goals.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/text.hpp"
#include "program/program.hpp"

namespace moe {
namespace {

constexpr double kNormal90 = 1.645;
constexpr std::size_t kNamedReasons = 3;

/// Spread of ln(time) that a 90 % interval means.
double sigma(double low, double high) { return low > 0 && high > low ? std::log(high / low) / (2 * kNormal90) : 0; }

using Score = std::function<double(const Candidate&)>;

Goal goal(const std::string& name, const std::vector<Candidate>& all, const Score& score) {
  Goal g;
  g.name = name;
  const Candidate* best = nullptr;
  const Candidate* second = nullptr;
  // Ties go to the earlier point: simpler plans come first.
  for (const Candidate& c : all)
    if (best == nullptr || score(c) > score(*best)) best = &c;
  if (best == nullptr) return g;
  for (const Candidate& c : all)
    if (c.plan != best->plan && (second == nullptr || score(c) > score(*second))) second = &c;
  g.best = *best;
  if (second == nullptr) return g;
  g.second = *second;
  g.reason = why_faster(*best, *second);
  auto time = [](const Candidate& c, const char* metric) { return c.metric(metric) / c.sequences; };
  g.sure = probability_faster(time(*best, "step_ms"), time(*best, "interval90_low_ms"), time(*best, "interval90_high_ms"),
                              time(*second, "step_ms"), time(*second, "interval90_low_ms"), time(*second, "interval90_high_ms"));
  g.overlap = time(*best, "interval90_high_ms") > time(*second, "interval90_low_ms");
  return g;
}

}  // namespace

double probability_faster(double a, double a_low, double a_high, double b, double b_low, double b_high) {
  const double spread = std::hypot(sigma(a_low, a_high), sigma(b_low, b_high));
  if (spread <= 0) return a < b ? 1 : a > b ? 0 : 0.5;
  return 0.5 * std::erfc(-std::log(b / a) / spread / std::sqrt(2.0));
}

std::string why_faster(const Candidate& best, const Candidate& second) {
  std::vector<std::pair<double, std::string>> parts;
  const double scale = static_cast<double>(best.sequences) / second.sequences;
  for (const std::string_view c : kCategoryNames) {
    const std::string key = "breakdown_ms." + std::string(c);
    std::string shown(c);
    std::replace(shown.begin(), shown.end(), '_', ' ');
    parts.emplace_back(best.metric(key) - second.metric(key) * scale, shown);
  }
  std::stable_sort(parts.begin(), parts.end(), [](auto& x, auto& y) { return std::abs(x.first) > std::abs(y.first); });
  std::string less, more;
  for (std::size_t i = 0; i < kNamedReasons; ++i) {
    const auto& [ms, what] = parts[i];
    if (std::abs(ms) < 0.005 * best.metric("step_ms")) continue;
    std::string& into = ms < 0 ? less : more;
    into += fmt::format("{}{} ms {} {}", into.empty() ? "" : ", ", significant(std::abs(ms)), ms < 0 ? "less" : "more", what);
  }
  std::string out = less + (less.empty() || more.empty() ? "" : "; ") + more;
  if (out.empty()) out = "practically the same step";
  return best.sequences == second.sequences ? out : out + fmt::format(" (for {} sequences)", best.sequences);
}

std::vector<Candidate> pareto_front(std::vector<Candidate> all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::make_pair(-a.user, -a.total) < std::make_pair(-b.user, -b.total);
  });
  std::vector<Candidate> front;
  for (Candidate& c : all)
    if (front.empty() || c.total > front.back().total) front.push_back(std::move(c));
  return front;
}

std::vector<Goal> goals_of(const std::vector<Candidate>& all) {
  if (all.empty()) return {};
  return {goal("fastest for one user", all, [](const Candidate& c) { return c.user; }),
          goal("most tokens/s", all, [](const Candidate& c) { return c.total; }),
          goal("balance (product of both)", all, [](const Candidate& c) { return c.user * c.total; })};
}

}  // namespace moe
