// Does max-min sharing agree with SimGrid's? 1,000 random topologies of 2 to 12 links and 2 to 24 flows of weights 1 to 4,
// some with a rate of their own; corrections off, no latency. Prints the largest difference of any completion time and how
// much processor time each simulator took for all of them. Run by hand:
//
//   cmake --build build --target moe-simgrid && build/tests/moe-simgrid
//
// SimGrid's settings make it a pure fluid model (CM02, no cross traffic, no latency, no TCP window).
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <simgrid/s4u.hpp>

#include "base/random.hpp"
#include "engine/engine.hpp"
#include "program/builder.hpp"

namespace sg = simgrid::s4u;
using namespace moe;

namespace {

constexpr int kTopologies = 1000;

struct Flow {
  std::vector<std::uint32_t> links;
  double bytes = 0, cap_Bps = 0;
  std::uint32_t weight = 1;
};
struct Topology {
  std::vector<double> capacity_Bps;
  std::vector<Flow> flows;
};

Topology random_topology(Random& random) {
  Topology t;
  for (auto links = 2 + random.below(11); links > 0; --links) t.capacity_Bps.push_back(1e9 * (1 + 63 * random.uniform()));
  for (auto flows = 2 + random.below(23); flows > 0; --flows) {
    Flow f;
    const auto count = static_cast<std::uint32_t>(t.capacity_Bps.size());
    for (std::uint32_t l = 0; l < count; ++l)
      if (random.below(3) == 0) f.links.push_back(l);
    if (f.links.empty()) f.links.push_back(random.below(count));
    f.weight = 1 + random.below(4);
    f.bytes = 12 * std::floor(1e5 * (1 + 99 * random.uniform()));  // SimGrid moves whole bytes, also of a part
    f.cap_Bps = random.below(4) == 0 ? 1e9 * (1 + 9 * random.uniform()) : 0;
    t.flows.push_back(f);
  }
  return t;
}

/// SimGrid has no weights for messages: a flow of weight w is w equal flows.
Topology in_parts(const Topology& t) {
  Topology parts{t.capacity_Bps, {}};
  for (const Flow& f : t.flows)
    for (std::uint32_t part = 0; part < f.weight; ++part)
      parts.flows.push_back({f.links, f.bytes / f.weight, f.cap_Bps / f.weight, 1});
  return parts;
}

std::vector<std::vector<double>> ours(const std::vector<Topology>& all, double& seconds) {
  std::vector<std::vector<double>> ends;
  for (const Topology& t : all) {
    Resources r;
    for (const double c : t.capacity_Bps) r.capacity.push_back({c}), r.link_names.push_back("link");
    Builder b;
    for (const Flow& f : t.flows) {
      std::vector<LinkId> path;
      for (const auto l : f.links) path.push_back(static_cast<LinkId>(l));
      b.transfer(path, Bytes{f.bytes}, Time{0}, Category::all_to_all, {}, Bandwidth{f.cap_Bps}, f.weight);
    }
    const Program program = b.seal();
    const std::clock_t before = std::clock();
    const Timeline timeline = run(program, r, Sharing::max_min);
    seconds += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    ends.emplace_back();
    for (const Time end : timeline.end) ends.back().push_back(to_us(end) * 1e-6);
  }
  return ends;
}

/// Starts the flows of one topology and notes when each ends.
void play(const Topology& t, const std::vector<sg::Host*>& from, const std::vector<sg::Host*>& to, std::vector<double>& ends) {
  std::vector<sg::CommPtr> pending;
  std::vector<std::size_t> number;
  for (std::size_t i = 0; i < t.flows.size(); ++i) {
    sg::CommPtr comm = sg::Comm::sendto_init();
    comm->set_payload_size(static_cast<std::uint64_t>(t.flows[i].bytes));
    comm->set_source(from[i]);
    comm->set_destination(to[i]);  // this starts it
    pending.push_back(comm);
    number.push_back(i);
  }
  while (!pending.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(sg::Comm::wait_any(pending));
    ends[number[static_cast<std::size_t>(at)]] = sg::Engine::get_clock();
    pending.erase(pending.begin() + at);
    number.erase(number.begin() + at);
  }
}

void add_flows(sg::NetZone* zone, const Topology& t, std::vector<double>& ends) {
  std::vector<const sg::Link*> links;
  for (std::size_t l = 0; l < t.capacity_Bps.size(); ++l)
    links.push_back(zone->create_link("l" + std::to_string(l), t.capacity_Bps[l])->set_latency(0)->seal());
  std::vector<sg::Host*> from, to;
  for (std::size_t i = 0; i < t.flows.size(); ++i) {
    from.push_back(zone->create_host("a" + std::to_string(i), 1e9)->seal());
    to.push_back(zone->create_host("b" + std::to_string(i), 1e9)->seal());
    std::vector<sg::LinkInRoute> route;
    for (const auto l : t.flows[i].links) route.emplace_back(links[l]);
    // SimGrid 3.32 does not hold such messages to set_rate(): a flow's own limit is a link that nobody else uses.
    if (t.flows[i].cap_Bps > 0)
      route.emplace_back(zone->create_link("c" + std::to_string(i), t.flows[i].cap_Bps)->set_latency(0)->seal());
    zone->add_route(from.back()->get_netpoint(), to.back()->get_netpoint(), nullptr, nullptr, route, false);
  }
  zone->seal();
  sg::Actor::create("flows", from.front(), [&t, from, to, &ends] { play(t, from, to, ends); });
}

/// One topology in this process: when each flow ends, then how long the simulation took.
std::vector<double> simulate(const Topology& t, char* program) {
  std::vector<std::string> words{program, "--log=root.thresh:error"};
  for (const char* option : {"model:CM02", "TCP-gamma:0", "crosstraffic:0", "weight-S:0", "bandwidth-factor:1", "latency-factor:1"})
    words.push_back(std::string("--cfg=network/") + option);
  words.emplace_back("--cfg=surf/precision:1e-12");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  int argc = static_cast<int>(argv.size());
  sg::Engine engine(&argc, argv.data());
  std::vector<double> ends(t.flows.size());
  add_flows(sg::create_full_zone("zone"), t, ends);
  const std::clock_t before = std::clock();
  engine.run();
  ends.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  return ends;
}

/// SimGrid allows one engine per process, so each topology gets its own.
std::vector<std::vector<double>> theirs(const std::vector<Topology>& all, char* program, double& seconds) {
  std::vector<std::vector<double>> ends;
  for (const Topology& whole : all) {
    const Topology t = in_parts(whole);
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return {};
    const pid_t child = fork();
    const std::size_t bytes = (t.flows.size() + 1) * sizeof(double);
    if (child == 0) {
      const std::vector<double> mine = simulate(t, program);
      _exit(write(pipe_ends[1], mine.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
    }
    close(pipe_ends[1]);
    ends.emplace_back(t.flows.size() + 1);
    if (read(pipe_ends[0], ends.back().data(), bytes) != static_cast<ssize_t>(bytes)) ends.back().assign(t.flows.size() + 1, 0);
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    seconds += ends.back().back();
  }
  return ends;
}

}  // namespace

int main(int, char** argv) {
  Random random(1);
  std::vector<Topology> all;
  for (int i = 0; i < kTopologies; ++i) all.push_back(random_topology(random));
  double our_seconds = 0, their_seconds = 0;
  const auto a = ours(all, our_seconds), b = theirs(all, argv[0], their_seconds);
  double worst = 0;
  std::size_t flows = 0, wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0, part = 0; j < a[i].size(); part += all[i].flows[j].weight, ++j) {
      const double off = std::abs(a[i][j] / b[i][part] - 1);
      worst = std::max(worst, off);
      wrong += off <= 1e-3 ? 0 : 1;
      ++flows;
    }
  std::printf("%d topologies, %zu flows: largest difference of a completion time %.2g, %zu above 0.1 %%\n", kTopologies,
              flows, worst, wrong);
  std::printf("processor time of running: moe-sim %.1f ms, SimGrid %.1f ms: %.1f times faster\n",
              1e3 * our_seconds, 1e3 * their_seconds, their_seconds / our_seconds);
  return wrong == 0 ? 0 : 1;
}
