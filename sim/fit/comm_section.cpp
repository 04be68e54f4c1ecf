#include "fit/comm_section.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace moe {
namespace {

/// What the rows did not decide.
void take_over(CommFit& fit, const CommCost& base) {
  CommCost& c = fit.cost;
  for (const auto& [name, t] : c.transport) fit.fitted.insert(name);
  for (const auto& [name, t] : base.transport) c.transport.emplace(name, t);
  if (base.ll128_rate_GBps > 0) c.ll128_rate_GBps = base.ll128_rate_GBps, c.ll128_alpha_factor = base.ll128_alpha_factor;
  for (const AllToAllCost& a : base.all_to_all) {
    const bool known = std::any_of(c.all_to_all.begin(), c.all_to_all.end(), [&](const AllToAllCost& mine) {
      return a.transports.empty() || std::find(mine.transports.begin(), mine.transports.end(), a.transports.front()) !=
                                         mine.transports.end();
    });
    if (!known) c.all_to_all.push_back(a);
  }
}

std::string tested(const char* what, const std::vector<CommError>& errors) {
  return errors.empty() ? std::string() : fmt::format("{}\n{}\n", what, comm_report(errors));
}

/// Rows whose error counts most, worst first.
std::string worst_rows(std::vector<CommError> errors) {
  constexpr std::size_t kShown = 12;
  std::stable_sort(errors.begin(), errors.end(),
                   [](const CommError& a, const CommError& b) { return std::abs(a.off()) > std::abs(b.off()); });
  std::string out = "largest errors of it\n";
  for (std::size_t i = 0; i < std::min(kShown, errors.size()); ++i) {
    const CommError& e = errors[i];
    out += fmt::format("  {:<16} {} GPUs {:>8.0f} B  measured {:8.2f} us  predicted {:8.2f} us {:+6.1f} %  {} {}\n",
                       name_of(e.row.op), e.row.gpus, e.row.bytes, e.row.latency_us, e.predicted_us, 100 * e.off(),
                       e.row.path, e.row.dtype);
  }
  return out + "\n";
}

std::string numbers(const TransportCost& t) {
  return fmt::format(
      "{{start_us: {:.6g}, alpha_ll_us: {:.6g}, adds_route_latency: {}, tau_ll_us: {:.6g}, tau1_ll_us: {:.6g},\n"
      "      alpha_simple_us: {:.6g}, rate_simple_GBps: {:.6g}}}",
      t.start_us, t.alpha_ll_us, t.adds_route_latency, t.tau_ll_us, t.tau1_ll_us, t.alpha_simple_us, t.rate_simple_GBps);
}

std::string list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
  return "[" + out + "]";
}

std::string all_to_all_yaml(const AllToAllCost& a) {
  std::string out = "    - ";
  if (!a.transports.empty()) out += fmt::format("transports: {}\n      ", list(a.transports));
  out += fmt::format(
      "base_us: {:.6g}\n      peer_us: {:.6g}\n      first: {:.6g}\n      tau: {:.6g}\n      simple_us: {:.6g}\n"
      "      by_ranks:\n",
      a.base_us, a.peer_us, a.first, a.tau, a.simple_us);
  for (const auto& [ranks, rate] : a.rate_GBps)
    out += fmt::format("        - {{ranks: {}, rate_GBps: {:.6g}, threads: {:.0f}}}\n", ranks, rate, a.threads.at(ranks));
  return out;
}

}  // namespace

CommFit fit_comm_section(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups, const CommCost& base) {
  const std::vector<CommRow> usable = usable_rows(rows, setups);
  if (usable.empty()) throw InputError("no row of collective.csv belongs to a setup\n  = help: see --machine in docs/fitting.md");
  const CommSplit halves = split_rows(usable), swapped = split_rows(usable, SizeClass::odd);
  CommFit fit;
  fit.cost = fit_comm(halves.fit, setups);
  const auto errors = evaluate_comm(fit.cost, halves.test, setups);
  fit.held_out = summary_of(errors);
  fit.report = tested("these constants, on sizes that were not fitted", errors) + worst_rows(errors);
  fit.report += tested("the same, on the sizes that were fitted (no test)", evaluate_comm(fit.cost, halves.fit, setups));
  const auto is_odd = [](const CommRow& r) { return size_class(r.bytes) == SizeClass::odd; };
  if (std::any_of(halves.test.begin(), halves.test.end(), is_odd))
    fit.report += tested("the other way round: fitted on odd powers of two, tested on the rest",
                         evaluate_comm(fit_comm(swapped.fit, setups), swapped.test, setups));
  FitQuality& q = fit.cost.quality;
  q.median_pct = fit.held_out.median_pct, q.p90_pct = fit.held_out.p90_pct;
  q.source = fmt::format("collective.csv: fitted on {} rows, errors on {} rows of other sizes", halves.fit.size(),
                         halves.test.size());
  take_over(fit, base);
  return fit;
}

std::string comm_yaml(const CommFit& fit) {
  const CommCost& c = fit.cost;
  std::string out = fmt::format(
      "# Communication. Fitted from collective.csv, but for what says otherwise (docs/network.md).\n"
      "comm:\n  t_base_us: {:.6g}\n  tail_ll: {:.6g}\n  tail_simple: {:.6g}\n  wire_GBps: {:.6g}   # by arithmetic\n"
      "  b_simple_us: {:.6g}\n  ll128_alpha_factor: {:.6g}   # taken over\n  ll128_rate_GBps: {:.6g}   # taken over\n"
      "  ll_min_threads: {}\n  ll_whole_pass: {}\n  transports:\n",
      c.t_base_us, c.tail_ll, c.tail_simple, c.wire_GBps, c.b_simple_us, c.ll128_alpha_factor, c.ll128_rate_GBps,
      c.ll_min_threads, c.ll_whole_pass);
  for (const auto& [name, t] : c.transport)
    out += fmt::format("    {}:{}\n      {}\n", name, fit.fitted.count(name) != 0 ? "" : "   # taken over", numbers(t));
  out += "  all_to_all:\n";
  for (const AllToAllCost& a : c.all_to_all) out += all_to_all_yaml(a);
  const FitQuality& q = c.quality;
  out += fmt::format("  quality:\n    median_pct: {:.1f}\n    p90_pct: {:.1f}\n", q.median_pct, q.p90_pct);
  for (const auto& [name, ends] : q.range) out += fmt::format("    {}: [{:.0f}, {:.0f}]\n", name, ends.first, ends.second);
  return out + fmt::format("    source: \"{}\"\n", q.source);
}

}  // namespace moe
