// moe-sim collective MACHINE: latency, bus bandwidth and the choice of NCCL or the stack, by size.
#include <fmt/core.h>

#include <algorithm>

#include "cli/network.hpp"
#include "cost/load_profile.hpp"
#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "network/closed_form.hpp"
#include "network/flows.hpp"
#include "network/together.hpp"
#include "report/collective.hpp"
#include "stack/load.hpp"

namespace moe {
namespace {

/// "64KB" -> 65536 (KB = 1024 B, as nccl-tests counts).
double size_of(const std::string& text) {
  const std::size_t letters = std::min(text.find_first_not_of("0123456789. "), text.size());
  const Parsed number = parse_number(text.substr(0, letters));
  const std::string unit = text.substr(letters);
  const std::vector<std::pair<std::string, double>> units{{"", 1},           {"B", 1},          {"K", 1 << 10},
                                                          {"KB", 1 << 10},   {"KiB", 1 << 10},  {"M", 1 << 20},
                                                          {"MB", 1 << 20},   {"MiB", 1 << 20},  {"G", 1 << 30},
                                                          {"GB", 1 << 30},   {"GiB", 1 << 30}};
  const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == unit; });
  if (!number.problem.empty() || found == units.end() || number.value <= 0)
    throw InputError(fmt::format("`{}` is not a size\n  = help: write 65536, 64KB or 4MB; KB = 1024 B", text));
  return number.value * found->second;
}

/// "1KB..4MB" doubles; "a,b,c" lists.
std::vector<double> sizes_of(const std::string& text) {
  std::vector<double> sizes;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string item = text.substr(from, to - from);
    const std::size_t dots = item.find("..");
    if (dots == std::string::npos) {
      sizes.push_back(size_of(item));
    } else {
      const double first = size_of(item.substr(0, dots)), last = size_of(item.substr(dots + 2));
      if (last < first) throw InputError(fmt::format("the range `{}` runs backwards", item));
      for (double s = first; s <= last; s *= 2) sizes.push_back(s);
    }
    from = to + 1;
  }
  return sizes;
}

CollectiveOp op_named(const std::string& name) {
  const std::vector<std::string> names{"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::vector<std::string> known = names;
    known.push_back("send");
    throw InputError(fmt::format("no collective `{}`\n  = help: {}", name, suggestion(name, known)));
  }
  return static_cast<CollectiveOp>(found - names.begin());
}

Algorithm algorithm_of(const std::string& name) {
  const auto a = algorithm_named(name);
  if (a) return *a;
  throw InputError(fmt::format("no implementation `{}`\n  = help: {}", name,
                               suggestion(name, {"automatic", "nccl", "ring", "tree", "oneshot", "twoshot",
                                                 "hierarchical", "gather", "copy_ring"})));
}

Profile profile_of(const std::string& name, const Machine& machine) {
  const std::string wanted = name.empty() ? machine.gpu : name;
  const std::string file = find_data(kProfiles, wanted, "");
  if (file.empty())
    throw InputError(fmt::format("no profile `{}`\n  = help: {}", wanted,
                                 suggestion(wanted, data_names(kProfiles, ""))));
  Diagnostics found;
  Profile profile = load_profile(file, found);
  if (found.has_errors()) throw InputError(found);
  return profile;
}

/// The stack's cut-offs, with the one-shot constants of the nearest measured rank count from below.
CollectivePolicy policy_of(const std::string& name, int ranks, const Streams& s) {
  if (name.empty()) return {};
  const std::string file = find_data(kStacks, name, "");
  if (file.empty())
    throw InputError(fmt::format("no stack `{}`\n  = help: {}", name, suggestion(name, data_names(kStacks, ""))));
  Diagnostics found;
  const Stack stack = load_stack(file, found);
  if (found.has_errors()) throw InputError(found);
  CollectivePolicy p = stack.comm.policy;
  const OneShot* best = nullptr;
  for (const OneShot& o : stack.comm.one_shot)
    if (o.ranks <= ranks && (best == nullptr || o.ranks > best->ranks)) best = &o;
  if (best == nullptr) p.custom = p.best_of_both = false;
  else p.one_shot_t0_us = best->t0_us, p.one_shot_GBps = best->rate_GBps;
  if (best != nullptr && best->ranks != ranks)
    s.err << fmt::format("warning: stack {}: its own all-reduce was measured on {} GPUs, its constants are used for {}\n",
                         name, best->ranks, ranks);
  return p;
}

std::vector<Protocol> protocols_of(const std::string& name) {
  if (name.empty()) return {};
  if (name == "LL") return {Protocol::ll};
  if (name == "LL128") return {Protocol::ll128};
  if (name == "Simple") return {Protocol::simple};
  throw InputError(fmt::format("no protocol `{}`\n  = help: {}", name, suggestion(name, {"LL", "LL128", "Simple"})));
}

/// "all_gather:0,2,4,6:32MB" or "all_reduce/copy_ring:0-7:4MB".
CollectiveRequest beside(const std::string& text, const CollectiveRequest& like, int gpus) {
  const std::size_t a = text.find(':'), b = text.rfind(':');
  if (a == std::string::npos || a == b)
    throw InputError(fmt::format("`--beside {}` is not OP:RANKS:BYTES\n  = help: all_gather:0-3:32MB", text));
  CollectiveRequest r = like;
  const std::string what = text.substr(0, a);
  const std::size_t slash = what.find('/');
  r.op = op_named(what.substr(0, slash));
  r.algorithm = slash == std::string::npos ? Algorithm::automatic : algorithm_of(what.substr(slash + 1));
  r.gpus = parse_ranks(text.substr(a + 1, b - a - 1), gpus);
  r.bytes = size_of(text.substr(b + 1));
  return r;
}

CollectiveLine line_of(const Machine& machine, const Routes& routes, const CommCost& cost, const CollectiveRequest& r,
                       const std::vector<CollectiveRequest>& others, bool as_flows) {
  CollectiveLine line;
  line.bytes = r.bytes;
  line.cost = closed_form(machine, routes, cost, r);
  if (as_flows) line.flows_us = alone_as_flows_us(machine, routes, cost, r);
  if (others.empty()) return line;
  std::vector<CollectiveRequest> all{r};
  all.insert(all.end(), others.begin(), others.end());
  const TogetherResult together = run_together(machine, routes, cost, all).front();
  line.together_us = together.together_us, line.lost_on = together.lost_on;
  return line;
}

}  // namespace

int collective_command(const CollectiveArguments& a, const Streams& s) {
  const Machine machine = machine_named(a.machine);
  const Routes routes(machine);
  const CommCost cost = profile_of(a.profile, machine).comm;
  const int gpus = static_cast<int>(machine.gpus.size());
  CollectiveRequest r;
  r.gpus = a.ranks.empty() ? parse_ranks(fmt::format("0-{}", gpus - 1), gpus) : parse_ranks(a.ranks, gpus);
  const bool message = a.op == "send";
  if (message && r.gpus.size() != 2) throw InputError("`--op send` takes two ranks, e.g. --ranks 0,4");
  r.op = message ? CollectiveOp::all_to_all : op_named(a.op);
  r.algorithm = algorithm_of(a.implementation);
  r.policy = policy_of(a.stack, static_cast<int>(r.gpus.size()), s);
  if (!a.protocol.empty()) r.policy.protocols = protocols_of(a.protocol);
  std::vector<CollectiveRequest> others;
  for (const std::string& text : a.beside) others.push_back(beside(text, r, gpus));
  std::vector<CollectiveLine> lines;
  for (const double bytes : sizes_of(a.bytes)) {
    r.bytes = message ? 2 * bytes : bytes;
    lines.push_back(line_of(machine, routes, cost, r, others, a.flows));
    lines.back().bytes = bytes;
  }
  const int ranks = static_cast<int>(r.gpus.size());
  if (a.json)
    s.out << nlohmann::ordered_json{{"machine", machine.name}, {"op", a.op}, {"gpus", r.gpus},
                                    {"lines", collective_json(r.op, ranks, lines)},
                                    {"unvalidated", machine.unvalidated}}.dump(2) << "\n";
  else if (a.csv) s.out << collective_csv(a.op, r.op, ranks, lines);
  else s.out << fmt::format("{}   {} of {} GPUs, alone\n\n", machine.name, a.op, ranks)
             << collective_text(r.op, ranks, lines);
  warn_unvalidated(machine, s);
  return kAnswered;
}

}  // namespace moe
