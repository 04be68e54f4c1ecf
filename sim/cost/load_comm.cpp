#include "cost/load_comm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace moe {
namespace {

const std::vector<std::string> kTransports{"nvlink", "nvlink_pair", "p2p", "p2p_pair", "p2p_x", "shm", "shm_x", "net"};

bool is_transport(const std::string& name) {
  return std::find(kTransports.begin(), kTransports.end(), name) != kTransports.end();
}

void bind_transport(Fields& f, TransportCost& t) {
  const Range from0 = Range::not_negative();
  f.number("start_us", t.start_us, Need::optional, from0,
           "once per collective, when this is the ring's most expensive transport");
  f.number("alpha_ll_us", t.alpha_ll_us, Need::required, from0, "latency of one LL hop");
  f.flag("adds_route_latency", t.adds_route_latency, Need::optional,
         "alpha_ll_us holds only the two ends; the machine's link latencies come on top");
  f.number("tau_ll_us", t.tau_ll_us, Need::required, from0, "one further LL pass of 4096 B per channel");
  f.number("tau1_ll_us", t.tau1_ll_us, Need::required, from0, "issue time of a full LL pass");
  f.number("alpha_simple_us", t.alpha_simple_us, Need::required, from0, "one step of Simple, links included");
  f.number("rate_simple_GBps", t.rate_simple_GBps, Need::required, Range::positive(), "rate of a hop under Simple");
}

const char* help_of(const std::string& transport) {
  if (transport == "nvlink") return "NVLink, rings of more than two GPUs";
  if (transport == "nvlink_pair") return "NVLink, two GPUs";
  if (transport == "p2p") return "direct PCIe inside one socket, rings of more than two GPUs";
  if (transport == "p2p_pair") return "direct PCIe inside one socket, two GPUs";
  if (transport == "p2p_x") return "direct PCIe across sockets";
  if (transport == "shm") return "bouncing through host memory of one socket";
  if (transport == "shm_x") return "bouncing through host memory across sockets";
  return "to another server";
}

void bind_transports(Fields& f, CommCost& cost) {
  f.section("transports", Need::required, "how neighbours in the ring talk; a machine decides which", [&](Fields& all) {
    for (const std::string& name : kTransports) {
      TransportCost one;
      if (all.section(name, Need::optional, help_of(name), [&](Fields& t) { bind_transport(t, one); }))
        cost.transport[name] = one;
    }
  });
}

void bind_all_to_all(Fields& f, AllToAllCost& cost) {
  const Range from0 = Range::not_negative();
  f.texts("transports", cost.transports, Need::optional, "for which these hold; left out: all");
  for (const std::string& t : cost.transports)
    if (!is_transport(t)) f.error("transports", fmt::format("unknown transport `{}`", t), suggestion(t, kTransports));
  f.number("base_us", cost.base_us, Need::required, from0, "launch and exit");
  f.number("peer_us", cost.peer_us, Need::required, from0, "each further peer");
  f.number("first", cost.first, Need::required, from0, "first LL pass, us");
  f.number("tau", cost.tau, Need::required, from0, "a further LL pass, as a share of the transport's tau_ll_us");
  f.number("simple_us", cost.simple_us, Need::required, from0, "start of Simple");
  f.list("by_ranks", Need::required, "what depends on the number of ranks", [&](Fields& r, std::size_t) {
    int ranks = 0;
    double rate = 0, threads = 0;
    r.integer("ranks", ranks, Need::required, Range::at_least(2), "communicator size");
    r.number("rate_GBps", rate, Need::required, Range::positive(), "sent by one GPU to all peers under Simple");
    r.number("threads", threads, Need::required, Range::at_least(1), "LL threads per peer");
    if (r.describing()) return;
    cost.rate_GBps[ranks] = rate;
    cost.threads[ranks] = threads;
  });
  if (!f.describing() && cost.rate_GBps.empty()) f.error("by_ranks", "`by_ranks` has no entry");
}

/// Every entry is for other transports: which one would hold?
void bind_all_to_alls(Fields& f, CommCost& cost) {
  std::set<std::string> taken;
  f.list("all_to_all", Need::required, "grouped send/receive, by transport", [&](Fields& a, std::size_t) {
    AllToAllCost one;
    bind_all_to_all(a, one);
    if (a.describing()) return;
    const std::vector<std::string>& mine = one.transports.empty() ? kTransports : one.transports;
    for (const std::string& t : mine)
      if (!taken.insert(t).second)
        a.error("transports", fmt::format("the transport `{}` is in two entries", t), "each transport is in one entry");
    cost.all_to_all.push_back(std::move(one));
  });
  if (!f.describing() && cost.all_to_all.empty()) f.error("all_to_all", "`all_to_all` has no entry");
}

void bind_range(Fields& f, const std::string& key, FitQuality& quality, const std::string& help) {
  std::vector<double> ends;
  f.numbers(key, ends, Unit::number, Need::optional, Range::not_negative(), help);
  if (ends.empty()) return;
  if (ends.size() != 2 || ends[0] > ends[1])
    return f.error(key, fmt::format("`{}` must be two numbers that ascend", key), "e.g. `[1024, 4194304]`");
  quality.range[key] = {ends[0], ends[1]};
}

void bind_quality(Fields& f, FitQuality& quality) {
  f.number("median_pct", quality.median_pct, Need::required, Range::not_negative(),
           "median error on sizes that were not fitted, percent");
  f.number("p90_pct", quality.p90_pct, Need::required, Range::not_negative(), "90 % point of the same");
  bind_range(f, "bytes", quality, "sizes for which this holds");
  bind_range(f, "ranks", quality, "communicator sizes for which this holds");
  f.text("source", quality.source, Need::required, "measurements that were fitted");
}

}  // namespace

void bind_comm(Fields& f, CommCost& cost) {
  const Range from0 = Range::not_negative();
  f.number("t_base_us", cost.t_base_us, Need::required, from0, "launch and exit of a collective kernel");
  f.number("tail_ll", cost.tail_ll, Need::required, from0, "last local LL pass, in passes");
  f.number("tail_simple", cost.tail_simple, Need::required, from0, "last local copy of Simple, in steps");
  f.number("wire_GBps", cost.wire_GBps, Need::required, Range::positive(), "ceiling of SM stores on the wire");
  f.number("b_simple_us", cost.b_simple_us, Need::required, from0, "pipeline fill of Simple");
  f.number("ll128_alpha_factor", cost.ll128_alpha_factor, Need::optional, from0, "LL128 hop latency over LL's");
  f.number("ll128_rate_GBps", cost.ll128_rate_GBps, Need::required, Range::positive(), "wire rate of LL128");
  f.integer("ll_min_threads", cost.ll_min_threads, Need::optional, Range::between(32, 512),
            "threads that a block of LL has at least");
  f.flag("ll_whole_pass", cost.ll_whole_pass, Need::optional,
         "a started LL pass waits a whole round trip; false: its share of one");
  bind_transports(f, cost);
  bind_all_to_alls(f, cost);
  f.section("quality", Need::required, "how good the fit is, and where it holds",
            [&](Fields& q) { bind_quality(q, cost.quality); });
}

}  // namespace moe
