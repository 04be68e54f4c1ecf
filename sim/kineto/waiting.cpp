#include "kineto/waiting.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace moe {
namespace {

/// What makes two calls the same collective, in words that hold across files.
using Key =
    std::tuple<std::string, std::string, std::string, std::int64_t>;  // kernel, operation, group, elements

std::map<Key, TracedCollective> collectives_of(const KinetoTrace& t,
                                               const std::vector<std::size_t>& categories) {
  std::map<Key, TracedCollective> all;
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    if (!is_communication(categories[i])) continue;
    const GpuEvent& e = t.events[i];
    const CollectiveFacts facts =
        e.collective >= 0 ? t.collectives[static_cast<std::size_t>(e.collective)] : CollectiveFacts{};
    TracedCollective& c = all[{t.names[e.name], facts.op, facts.group, facts.elements}];
    c.name = e.name, c.category = categories[i], c.facts = e.collective;
    c.events.push_back(i);
  }
  return all;
}

double median_us(std::vector<std::int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  return static_cast<double>(ns[ns.size() / 2] + ns[(ns.size() - 1) / 2]) / 2000.0;
}

}  // namespace

std::string text_of(WaitMethod method) {
  switch (method) {
    case WaitMethod::none: return "not known: a collective that is called once";
    case WaitMethod::one_rank: return "at least, against the shortest call of the same collective";
    case WaitMethod::several_ranks: return "against the rank that arrived last";
  }
  return {};
}

Waiting find_waiting(const std::vector<const KinetoTrace*>& traces,
                     const std::vector<std::vector<std::size_t>>& categories, Diagnostics& out) {
  Waiting w;
  const KinetoTrace& own = *traces[0];
  w.waits_ns.assign(own.events.size(), 0);
  std::vector<std::map<Key, TracedCollective>> ranks;
  for (std::size_t r = 0; r < traces.size(); ++r) ranks.push_back(collectives_of(*traces[r], categories[r]));
  for (auto& [key, c] : ranks[0]) {
    std::vector<std::int64_t> shortest;
    for (const std::size_t i : c.events) shortest.push_back(own.events[i].duration_ns());
    bool all_match = traces.size() > 1;
    for (std::size_t r = 1; r < traces.size() && all_match; ++r) {
      const auto other = ranks[r].find(key);
      all_match = other != ranks[r].end() && other->second.events.size() == c.events.size();
      for (std::size_t k = 0; k < c.events.size() && all_match; ++k)
        shortest[k] = std::min(shortest[k], traces[r]->events[other->second.events[k]].duration_ns());
    }
    if (traces.size() > 1 && !all_match)
      out.warning(
          fmt::format("`{}`: the traces do not hold the same number of calls; waiting is taken from {} alone",
                      std::get<0>(key).substr(0, 60), own.file),
          {own.file, 0, 0, 1});
    if (all_match) {
      c.method = WaitMethod::several_ranks;
      c.transfer_us = median_us(shortest);
    } else {
      const std::int64_t least = *std::min_element(shortest.begin(), shortest.end());
      c.method = c.events.size() > 1 ? WaitMethod::one_rank : WaitMethod::none;
      c.transfer_us = static_cast<double>(least) / 1000.0;
      for (std::int64_t& s : shortest) s = least;
    }
    for (std::size_t k = 0; k < c.events.size(); ++k)
      w.waits_ns[c.events[k]] = own.events[c.events[k]].duration_ns() - shortest[k];
    w.method = std::max(w.method, c.method);
    w.collectives.push_back(c);
  }
  std::sort(w.collectives.begin(), w.collectives.end(),
            [](const TracedCollective& a, const TracedCollective& b) { return a.events[0] < b.events[0]; });
  return w;
}

}  // namespace moe
