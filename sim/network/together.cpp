#include "network/together.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "engine/engine.hpp"
#include "network/closed_form.hpp"
#include "network/fabric.hpp"
#include "network/pcie_rule.hpp"

namespace moe {
namespace {

struct Played {
  double end_us = 0;
  std::string lost_on;
};

/// The link on which the ops of [first, last) lost most.
std::string worst_link(const Program& program, const Timeline& t, const Resources& links, std::size_t first,
                       std::size_t last) {
  std::map<LinkId, Time> lost;
  for (std::size_t op = first; op < last; ++op)
    for (std::size_t hop = 0; hop < program.path[OpId(op)].size(); ++hop)
      lost[program.path[OpId(op)][hop]] += t.lost[OpId(op)][hop];
  const auto worst = std::max_element(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return worst == lost.end() || worst->second <= Time{0} ? std::string() : links.link_names[worst->first];
}

/// Runs some collectives as flows, all starting at 0; returns the end of each.
std::vector<Played> play(const Machine& machine, const Routes& routes, const CommCost& cost,
                         const std::vector<const CollectiveRequest*>& requests, std::vector<std::set<LinkId>>* used,
                         double factor = 1) {
  Builder b;
  CollectiveWriter writer(b, machine, routes, cost);
  std::vector<std::vector<OpId>> done;
  std::vector<std::size_t> first{0};
  for (const CollectiveRequest* r : requests) {
    done.push_back(writer.write(*r, {}));
    first.push_back(index(b.join({})) + 1);
  }
  const Program program = b.seal();
  PcieRule rule(machine, writer.reads());
  const Resources links = fabric(machine, factor);
  const Timeline t = run(program, links, Sharing::max_min, &rule);
  std::vector<Played> ends;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Time end{0};
    for (const OpId op : done[i]) end = std::max(end, t.end[op]);
    ends.push_back({to_us(end), worst_link(program, t, links, first[i], first[i + 1])});
    if (used == nullptr) continue;
    used->emplace_back();
    for (std::size_t op = first[i]; op < first[i + 1]; ++op)
      for (const LinkId l : program.path[OpId(op)]) used->back().insert(l);
  }
  return ends;
}

/// A link of finite capacity that both use.
bool meet(const Resources& fabric, const std::set<LinkId>& a, const std::set<LinkId>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](LinkId l) { return fabric.capacity[l] < kUnlimited && b.count(l) != 0; });
}

}  // namespace

double alone_as_flows_us(const Machine& machine, const Routes& routes, const CommCost& cost,
                         const CollectiveRequest& request, double links) {
  return play(machine, routes, cost, {&request}, nullptr, links).front().end_us;
}

std::vector<TogetherResult> run_together(const Machine& machine, const Routes& routes, const CommCost& cost,
                                         const std::vector<CollectiveRequest>& requests) {
  std::vector<const CollectiveRequest*> all;
  for (const CollectiveRequest& r : requests) all.push_back(&r);
  std::vector<std::set<LinkId>> used;
  const std::vector<Played> ends = play(machine, routes, cost, all, &used);
  const Resources links = fabric(machine);
  std::vector<TogetherResult> results(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    TogetherResult& r = results[i];
    for (std::size_t j = 0; j < requests.size(); ++j) r.shares = r.shares || (i != j && meet(links, used[i], used[j]));
    const bool uniform = requests[i].pair_bytes.empty();
    if (!r.shares && uniform) {
      r.alone_us = r.together_us = closed_form(machine, routes, cost, requests[i]).time_us;
      continue;
    }
    r.alone_us = alone_as_flows_us(machine, routes, cost, requests[i]);
    r.together_us = ends[i].end_us;
    r.lost_on = ends[i].lost_on;
  }
  return results;
}

}  // namespace moe
