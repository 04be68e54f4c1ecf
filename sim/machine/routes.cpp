// Routes by Dijkstra's algorithm. The only file that sees Boost.Graph.
#include <fmt/core.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <limits>

#include "base/check.hpp"
#include "machine/machine.hpp"

namespace moe {
namespace {

/// Length of a path: latency first, then the number of links. Integers, so that ties are ties.
struct Length {
  std::int64_t picoseconds = 0;
  int links = 0;
  friend auto operator<=>(const Length&, const Length&) = default;
  friend Length operator+(Length a, Length b) { return {a.picoseconds + b.picoseconds, a.links + b.links}; }
};
constexpr Length kFar{std::numeric_limits<std::int64_t>::max() / 4, std::numeric_limits<int>::max() / 4};

struct EdgeData {
  int link = 0;  ///< position in Machine::links
  Length length;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeData>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

Graph graph_of(const Machine& machine) {
  Graph graph(machine.devices.size());
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& l = machine.links[i];
    boost::add_edge(static_cast<std::size_t>(l.from), static_cast<std::size_t>(l.to),
                    EdgeData{static_cast<int>(i), {to_time(l.latency).count(), 1}}, graph);
  }
  return graph;
}

/// Keeps the links that a route from `start` may take: no link leaves any other GPU.
struct NotThroughGpus {
  const Machine* machine = nullptr;
  const Graph* graph = nullptr;
  std::size_t start = 0;
  bool operator()(const Edge& e) const {
    const std::size_t from = boost::source(e, *graph);
    return from == start || machine->devices[from].kind != DeviceKind::gpu;
  }
};

using Allowed = boost::filtered_graph<Graph, NotThroughGpus>;

/// Notes the link over which a shorter path to a device was found.
struct Remember {
  using event_filter = boost::on_edge_relaxed;
  std::vector<int>* arriving = nullptr;
  void operator()(const Edge& e, const Allowed& g) const { (*arriving)[boost::target(e, g)] = g[e].link; }
};

/// For each device, the link over which the best path from `start` arrives; -1: none.
std::vector<int> arriving_links(const Machine& machine, const Graph& graph, std::size_t start) {
  const NotThroughGpus keep{&machine, &graph, start};
  const Allowed allowed(graph, keep);
  std::vector<Length> length(machine.devices.size());
  std::vector<int> arriving(machine.devices.size(), -1);
  boost::dijkstra_shortest_paths(
      allowed, start,
      boost::weight_map(boost::get(&EdgeData::length, allowed))
          .distance_map(boost::make_iterator_property_map(length.begin(), boost::get(boost::vertex_index, graph)))
          .distance_inf(kFar)
          .distance_zero(Length{})
          .distance_compare(std::less<Length>{})
          .distance_combine(std::plus<Length>{})
          .visitor(boost::make_dijkstra_visitor(Remember{&arriving})));
  return arriving;
}

bool starts_routes(DeviceKind kind) {
  return kind == DeviceKind::gpu || kind == DeviceKind::host_memory || kind == DeviceKind::nic;
}

Route walk_back(const Machine& machine, const std::vector<int>& arriving, std::size_t start, std::size_t to) {
  Route route;
  for (std::size_t at = to; at != start;) {
    const Link& link = machine.links[static_cast<std::size_t>(arriving[at])];
    route.links.insert(route.links.begin(), arriving[at]);
    at = static_cast<std::size_t>(link.from);
  }
  for (const int l : route.links) route.latency += machine.links[static_cast<std::size_t>(l)].latency;
  return route;
}

}  // namespace

Routes::Routes(const Machine& machine) : gpus_(machine.gpus), found_(machine.devices.size()) {
  const Graph graph = graph_of(machine);
  for (const Device& d : machine.devices) names_.push_back(d.name);
  for (std::size_t start = 0; start < machine.devices.size(); ++start) {
    if (!starts_routes(machine.devices[start].kind)) continue;
    const std::vector<int> arriving = arriving_links(machine, graph, start);
    found_[start].resize(machine.devices.size());
    for (std::size_t to = 0; to < machine.devices.size(); ++to)
      if (to == start || arriving[to] >= 0) found_[start][to] = {true, walk_back(machine, arriving, start, to)};
  }
}

bool Routes::reaches(int from, int to) const {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  MOE_CHECK(from >= 0 && f < found_.size() && to >= 0 && t < names_.size(), "a route joins two devices of the machine");
  MOE_CHECK(!found_[f].empty(), "routes start at a GPU, host memory or NIC");
  return found_[f][t].exists;
}

const Route& Routes::between(int from, int to) const {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  if (!reaches(from, to))
    throw Infeasible("route", fmt::format("there is no route from `{}` to `{}` that does not pass through another GPU",
                                          names_[f], names_[t]));
  return found_[f][t].route;
}

const Route& Routes::between_gpus(int from, int to) const {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  MOE_CHECK(from >= 0 && f < gpus_.size() && to >= 0 && t < gpus_.size(), "GPU numbers count from 0 to gpus - 1");
  return between(gpus_[f], gpus_[t]);
}

namespace {

/// The host memory that `gpu` reaches with least latency on its own server; -1: none.
int nearest_memory(const Machine& machine, const Routes& routes, int gpu) {
  const int from = machine.gpus[static_cast<std::size_t>(gpu)];
  const int node = machine.devices[static_cast<std::size_t>(from)].node;
  int best = -1;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const int memory = static_cast<int>(d);
    if (machine.devices[d].kind != DeviceKind::host_memory || machine.devices[d].node != node) continue;
    if (!routes.reaches(from, memory)) continue;
    if (best < 0 || routes.between(from, memory).latency < routes.between(from, best).latency) best = memory;
  }
  return best;
}

}  // namespace

std::vector<int> bounce_links(const Machine& machine, const Routes& routes, int from_gpu, int to_gpu) {
  const int from = machine.gpus[static_cast<std::size_t>(from_gpu)], to = machine.gpus[static_cast<std::size_t>(to_gpu)];
  const int memory = nearest_memory(machine, routes, from_gpu);
  if (memory < 0 || !routes.reaches(memory, to)) return routes.between_gpus(from_gpu, to_gpu).links;
  std::vector<int> links = routes.between(from, memory).links;
  for (const int l : routes.between(memory, to).links)
    if (std::find(links.begin(), links.end(), l) == links.end()) links.push_back(l);
  return links;
}

}  // namespace moe
