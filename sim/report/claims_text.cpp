#include "report/claims_text.hpp"

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "base/text.hpp"

namespace moe {
namespace {

/// Shares and gains are shown in percent, as people say them.
bool in_percent(const Claim& c) { return c.metric.starts_with("share.") || c.metric.starts_with("gain."); }

std::string number(const Claim& c, double v) {
  if (std::isnan(v)) return "none";
  return in_percent(c) ? fmt::format("{}{:.1f} %", c.metric.starts_with("gain.") && v > 0 ? "+" : "", v * 100) : significant(v);
}

std::string claimed(const Claim& c) {
  if (c.is_open) return "—";
  if (c.is_range) return number(c, c.value - c.tolerance) + " to " + number(c, c.value + c.tolerance);
  if (c.tolerance == 0) return number(c, c.value);
  return fmt::format("{} ±{}", number(c, c.value), c.tolerance_is_relative ? fmt::format("{:g} %", c.tolerance * 100) : number(c, c.tolerance));
}

std::string words(const Claim& c) { return c.text.empty() ? c.metric : c.text; }

}  // namespace

std::string claims_text(const std::vector<ClaimResult>& claims) {
  if (claims.empty()) return {};
  TextTable t("lrrll");
  t.row({"claim", "claimed", "simulated", "verdict", "source"});
  for (const ClaimResult& c : claims)
    t.row({words(c.claim), claimed(c.claim), number(c.claim, c.simulated), c.verdict(), c.claim.source});
  std::string out = t.render();
  for (const ClaimResult& c : claims)
    if (!c.claim.note.empty()) out += fmt::format("  {}: {}\n", words(c.claim), c.claim.note);
  return out;
}

std::string claims_text(const std::vector<NamedClaims>& experiments) {
  TextTable t("lrrl");
  std::map<std::string, int> count;
  t.row({"claim", "claimed", "simulated", "verdict"});
  for (const NamedClaims& e : experiments) {
    t.row({e.experiment, "", "", ""});
    for (const ClaimResult& c : e.claims) {
      t.row({"  " + words(c.claim), claimed(c.claim), number(c.claim, c.simulated), c.verdict()});
      const std::string verdict = c.verdict();
      ++count[verdict.starts_with("consistent") ? "consistent only under conditions" : verdict.starts_with("no answer") ? "without an answer" : verdict];
    }
  }
  std::string out = t.render("") + "\n", sum;
  for (const auto& [verdict, n] : count) sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", n, verdict);
  return out + sum + "\n";
}

}  // namespace moe
