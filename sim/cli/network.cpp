// moe-sim flows and moe-sim show, and what the other network verbs share.
#include "cli/network.hpp"

#include <fmt/core.h>

#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "report/flows.hpp"
#include "report/show_machine.hpp"

namespace moe {

Machine machine_named(const std::string& name) {
  const std::string file = find_data(kTopologies, name, "");
  if (file.empty())
    throw InputError(fmt::format("no machine `{}`\n  = help: {}", name, suggestion(name, data_names(kTopologies, ""))));
  Diagnostics found;
  Machine machine = load_machine(file, found);
  if (found.has_errors()) throw InputError(found);
  return machine;
}

void warn_unvalidated(const Machine& machine, const Streams& s) {
  for (const std::string& u : machine.unvalidated) s.err << "warning: machine " << machine.name << ": " << u << "\n";
}

int flows_command(const FlowsArguments& a, const Streams& s) {
  const Machine machine = machine_named(a.machine);
  const auto pairs = parse_flows(a.flows, static_cast<int>(machine.gpus.size()));
  FlowOptions options;
  options.reads = a.reads;
  options.bytes = a.megabytes * 1e6;
  const FlowsResult r = play_flows(machine, Routes(machine), pairs, options);
  constexpr std::size_t kShownLinks = 8;
  if (a.json) s.out << flows_json(machine, r).dump(2) << "\n";
  else if (a.csv) s.out << flows_csv(r);
  else s.out << flows_text(machine, r, options, a.all_links ? 0 : kShownLinks);
  warn_unvalidated(machine, s);
  return kAnswered;
}

int show_command(const std::string& name, bool json, const Streams& s) {
  const Machine machine = machine_named(name);
  const Routes routes(machine);
  if (json) s.out << show_machine_json(machine, routes).dump(2) << "\n";
  else s.out << show_machine(machine, routes);
  return kAnswered;
}

}  // namespace moe
