// moe-sim fit-comm DIR --setup PATH=MACHINE: communication constants from collective.csv.
#include <fmt/core.h>

#include <fstream>

#include "cli/network.hpp"
#include "fit/comm.hpp"
#include "machine/load.hpp"

namespace moe {
namespace {

constexpr double kMostBytes = 8 << 20;

/// PATH=MACHINE[/LL][@4]: rows of PATH with at least 4 GPUs were measured on MACHINE, NCCL held to LL.
CommSetup setup_of(const std::string& text) {
  const std::size_t equal = text.rfind('=');
  if (equal == std::string::npos || equal == 0)
    throw InputError(fmt::format("`--setup {}` is not PATH=MACHINE\n  = help: nccl-2.29.2=pcie-2s-host-bounced", text));
  CommSetup s;
  s.path = text.substr(0, equal);
  std::string rest = text.substr(equal + 1);
  if (const std::size_t at = rest.find('@'); at != std::string::npos) {
    const Parsed least = parse_number(rest.substr(at + 1));
    if (!least.problem.empty() || least.value < 2) throw InputError(fmt::format("`{}` ends with no GPU count", text));
    s.least_gpus = static_cast<int>(least.value);
    rest.resize(at);
  }
  if (rest.ends_with("/LL")) s.protocols = {Protocol::ll}, rest.resize(rest.size() - 3);
  else if (rest.ends_with("/Simple")) s.protocols = {Protocol::simple}, rest.resize(rest.size() - 7);
  s.machine = machine_named(rest);
  return s;
}

std::vector<CommRow> of_class(const std::vector<CommRow>& rows, SizeClass wanted, bool keep) {
  std::vector<CommRow> some;
  for (const CommRow& r : rows)
    if ((size_class(r.bytes) == wanted) == keep) some.push_back(r);
  return some;
}

void report_half(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups, SizeClass fitted,
                 const char* name, const Streams& s) {
  const std::vector<CommRow> powers = of_class(rows, SizeClass::between, false);
  const CommCost cost = fit_comm(of_class(powers, fitted, true), setups);
  s.err << fmt::format("\nfitted on {} powers of two, tested on the other powers\n", name)
        << comm_report(evaluate_comm(cost, of_class(powers, fitted, false), setups));
  const std::vector<CommRow> between = of_class(rows, SizeClass::between, true);
  if (!between.empty())
    s.err << fmt::format("\nfitted on {} powers of two, tested on sizes between\n", name)
          << comm_report(evaluate_comm(cost, between, setups));
}

}  // namespace

int fit_comm_command(const FitCommArguments& a, const Streams& s) {
  Diagnostics found;
  std::vector<CommSetup> setups;
  for (const std::string& text : a.setups) setups.push_back(setup_of(text));
  const std::vector<CommRow> all = read_collectives(a.dir + "/collective.csv", found);
  if (found.has_errors()) throw InputError(found);
  const std::vector<CommRow> rows = usable_rows(all, setups, kMostBytes);
  if (rows.empty()) throw InputError("no row of the table belongs to a setup");
  report_half(rows, setups, SizeClass::even, "even", s);
  report_half(rows, setups, SizeClass::odd, "odd", s);
  const CommCost cost = fit_comm(rows, setups);
  s.err << "\nfitted on all rows (not a test)\n" << comm_report(evaluate_comm(cost, rows, setups));
  if (a.out.empty()) {
    s.out << comm_yaml(cost);
    return kAnswered;
  }
  std::ofstream file(a.out);
  file << comm_yaml(cost);
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", a.out));
  return kAnswered;
}

}  // namespace moe
