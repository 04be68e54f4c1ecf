// Every pair of GPUs, and the host: who moves how much, and how long does a small thing take?
//
// p2p.csv: method,from,to,direction,bytes,latency_us; from and to in the direction of the data.
//   copy        the source's copy engine writes        copy_read   the destination's fetches
//   staged      a copy that the driver bounces through the host, because the two are no peers
//   store, load all multiprocessors of the source write, of the destination read
//   chain       one dependent load after the other     flag        one-way time of a flag between two kernels
// direction: one; both (the reverse at the same time); all (every GPU with the host at the same time).
#include <fmt/core.h>

#include "box/flow_run.hpp"
#include "box/parts.hpp"
#include "comm/probes.hpp"
#include "harness/buffer.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kSmall[] = {16, 4096, 65536, 1 << 20, 16 << 20};

std::string end_name(int gpu) { return gpu == kHost ? "host" : std::to_string(gpu); }

struct Table {
  Session& session;
  Results rows;

  /// Measures a row that is not there yet; what the machine cannot do is skipped with the reason.
  template <class Measure>
  void row(const char* method, int from, int to, const char* direction, std::size_t bytes, const Measure& measure) {
    const Key key{method, end_name(from), end_name(to), direction, std::to_string(bytes)};
    if (!rows.has(key)) {
      try {
        rows.add(key, measure());
      } catch (const Unsupported& e) {
        rows.skip(key, e.what());
      }
    }
    session.tick();
  }
};

/// Median of several single values in nanoseconds.
template <class Measure>
Timing repeated_ns(const Measure& measure) {
  std::vector<double> us;
  for (int i = 0; i < 7; ++i) us.push_back(1e-3 * measure());
  return summarise(us);
}

Timing small_copies(const GpuGroup& gpus, int from, int to, std::size_t bytes) {
  const OnDevice here(from);
  const Buffer source(bytes, Fill::bits);
  const OnDevice there(to);
  const Buffer target(bytes);
  const OnDevice again(from);
  return time_graph(gpus.stream(from), bytes <= 65536 ? 50 : 10, 1, [&](cudaStream_t s, int) {
    BENCH_CHECK(cudaMemcpyAsync(target.as(), source.as(), bytes, cudaMemcpyDefault, s));
  });
}

/// All multiprocessors of `worker` copy.
Timing by_sm(const GpuGroup& gpus, int from, int to, int worker) {
  if (!gpus.peers(worker, worker == from ? to : from)) throw Unsupported("no peer access");
  Buffer source, target;
  {
    const OnDevice here(from);
    source = Buffer(kFlowBytes, Fill::bits);
  }
  {
    const OnDevice here(to);
    target = Buffer(kFlowBytes);
  }
  const OnDevice here(worker);
  return time_graph(gpus.stream(worker), 4, 1,
                    [&](cudaStream_t s, int) { copy_by_sm(s, source.as(), target.as(), kFlowBytes); });
}

Timing chain(const GpuGroup& gpus, int owner, int reader) {
  if (!gpus.peers(reader, owner)) throw Unsupported("no peer access");
  constexpr std::size_t kChainBytes = 1 << 20;
  const OnDevice there(owner);
  const Buffer links(kChainBytes);
  const OnDevice here(reader);
  return repeated_ns([&] { return load_latency_ns(gpus.stream(reader), links.as(), kChainBytes, 1000); });
}

Timing flag(const GpuGroup& gpus, int from, int to) {
  if (!gpus.peers(from, to) || !gpus.peers(to, from)) throw Unsupported("no peer access");
  return repeated_ns([&] {
    const OnDevice here(from);
    const Buffer at_from(256, Fill::zero);
    const OnDevice there(to);
    const Buffer at_to(256, Fill::zero);
    return ping_ns(gpus, from, to, at_from.as(), at_to.as(), 1001);
  });
}

void pair(Table& t, const GpuGroup& gpus, int from, int to) {
  const bool peers = gpus.peers(from, to);
  const char* copy = peers ? "copy" : "staged";
  for (const std::size_t bytes : kSmall) t.row(copy, from, to, "one", bytes, [&] { return small_copies(gpus, from, to, bytes); });
  t.row(copy, from, to, "one", kFlowBytes, [&] { return time_flows(gpus, {{from, to}}); });
  t.row("copy_read", from, to, "one", kFlowBytes, [&] {
    if (!peers) throw Unsupported("no peer access");
    return time_flows(gpus, {{from, to}}, true);
  });
  if (from < to) t.row(copy, from, to, "both", kFlowBytes, [&] { return time_flows(gpus, {{from, to}, {to, from}}); });
  t.row("store", from, to, "one", kFlowBytes, [&] { return by_sm(gpus, from, to, from); });
  t.row("load", from, to, "one", kFlowBytes, [&] { return by_sm(gpus, from, to, to); });
  t.row("chain", from, to, "one", 4, [&] { return chain(gpus, from, to); });
  t.row("flag", from, to, "one", 4, [&] { return flag(gpus, from, to); });
}

void host(Table& t, const GpuGroup& gpus, int gpu) {
  t.row("copy", kHost, gpu, "one", kFlowBytes, [&] { return time_flows(gpus, {{kHost, gpu}}); });
  t.row("copy", gpu, kHost, "one", kFlowBytes, [&] { return time_flows(gpus, {{gpu, kHost}}); });
  t.row("copy", kHost, gpu, "both", kFlowBytes, [&] { return time_flows(gpus, {{kHost, gpu}, {gpu, kHost}}); });
}

}  // namespace

void measure_p2p(Session& session) {
  const int n = device_count();
  const GpuGroup gpus(n);
  Table t{session, continued(session, "p2p.csv", {"method", "from", "to", "direction", "bytes"})};
  const std::size_t count = static_cast<std::size_t>(n);
  session.begin("p2p", count * (count - 1) * (std::size(kSmall) + 6) + count * (count - 1) / 2 + 3 * count + 2);
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) pair(t, gpus, from, to);
  for (int gpu = 0; gpu < n; ++gpu) host(t, gpus, gpu);
  std::vector<Flow> down, up;
  for (int gpu = 0; gpu < n; ++gpu) down.push_back({kHost, gpu}), up.push_back({gpu, kHost});
  if (n > 1) {
    t.row("copy", kHost, 0, "all", kFlowBytes, [&] { return time_flows(gpus, down); });
    t.row("copy", 0, kHost, "all", kFlowBytes, [&] { return time_flows(gpus, up); });
  }
  session.end();
}

}  // namespace moe::bench
