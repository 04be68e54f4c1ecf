// Collectives in CUDA graphs: NCCL under one setting of its environment, and our own all-reduces.
//
// collective.csv: path,op,dtype,gpus,bytes,latency_us, as `moe-sim fit` reads it. Paths: nccl-VERSION/SETTING,
// suite-1/one_shot, suite-1/two_shot. Every graph starts at a line that all GPUs must reach; the time is of the calls
// behind it, on the slowest GPU. Buffers are used again and again: small messages come from L2, as in a decode step.
#include "comm/collectives.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "box/group_buffers.hpp"
#include "box/nccl_dump.hpp"
#include "box/parts.hpp"
#include "comm/group_graph.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
const Key kColumns{"path", "op", "dtype", "gpus", "bytes"};

std::vector<int> first(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Collectives in one graph: 20, as engines run dozens per step; fewer of large ones, whose start does not count.
int calls_for(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{20} << 20;
  return static_cast<int>(std::clamp<std::size_t>(kLarge / bytes, 4, 20));
}

TimingOptions timing() {
  TimingOptions options;
  options.most_ms = 15;
  options.most_replays = 40;
  return options;
}

struct Group {
  GpuGroup gpus;
  Collectives comms;
  StartLine start;
  GroupBuffers buffers;

  explicit Group(int n) : gpus(n), comms(gpus, first(n)), start(gpus), buffers(gpus, kMostBytes) {}

  void point(Session& session, Results& rows, const std::string& path, By by, Collective op, std::size_t bytes) {
    const Key key{path, name_of(op), "bfloat16", std::to_string(gpus.size()), std::to_string(bytes)};
    if (!rows.has(key))
      rows.add(key, time_group(gpus, start, calls_for(bytes),
                               [&](int) { comms.enqueue(by, op, buffers.in, buffers.out, bytes, gpus.streams()); }, timing()));
    session.tick();
  }
};

/// Settings that tell protocols apart need no sizes between the powers of two.
bool all_sizes(const std::string& setting) { return setting == "default" || setting == "p2p_off"; }
/// Sockets are slow.
std::size_t most_bytes(const std::string& setting) { return setting == "net" ? std::size_t{4} << 20 : kMostBytes; }

/// Pairs with native atomics are joined by NVLink.
bool all_nvlink() {
  for (int a = 0; a < device_count(); ++a)
    for (int b = 0; b < device_count(); ++b) {
      int atomics = 1;
      if (a != b) BENCH_CHECK(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, a, b));
      if (atomics == 0) return false;
    }
  return true;
}

void add_communicator(const std::string& folder, const std::string& path, int gpus, const std::string& dump) {
  const NcclGraph ring = read_nccl_graph(dump);
  if (ring.channels == 0) return;
  const std::filesystem::path file = std::filesystem::path(folder) / "communicators.csv";
  const std::string key = fmt::format("{},{},", path, gpus);
  bool empty = true;
  std::ifstream before(file);
  for (std::string line; std::getline(before, line); empty = false)
    if (line.starts_with(key)) return;
  std::ofstream out(file, std::ios::app);
  if (empty) out << "path,gpus,channels,graph_GBps\n";
  out << fmt::format("{}{},{:.4g}\n", key, ring.channels, ring.GBps);
}

/// Every group and size under one setting.
void measure_setting(Session& session, const std::string& setting) {
  if (setting == "p2p_sys" && all_nvlink()) throw Unsupported("every pair has NVLink, which NCCL uses by default");
  namespace fs = std::filesystem;
  const std::string path = fmt::format("nccl-{}/{}", nccl_version(), setting), folder = session.options().out;
  const fs::path dumps = fs::path(folder) / "nccl";
  fs::create_directories(dumps);
  Results rows = continued(session, "collective.csv", kColumns);
  std::size_t points = 0;
  for (const int n : group_sizes())
    points += 4 * message_sizes(n, most_bytes(setting), all_sizes(setting), session.options().quick).size();
  session.begin("nccl-" + setting, points);
  for (const int n : group_sizes()) {
    const std::string graph = (dumps / fmt::format("graph-{}-{}.xml", setting, n)).string();
    dump_nccl_to(graph, setting == "default" && n == group_sizes().back() ? (fs::path(folder) / "nccl-topo.xml").string() : "");
    Group group(n);
    add_communicator(folder, path, n, graph);
    for (const std::size_t bytes : message_sizes(n, most_bytes(setting), all_sizes(setting), session.options().quick))
      for (const Collective op :
           {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
        group.point(session, rows, path, By::nccl, op, bytes);
  }
  session.end();
}

/// One GPU: no collective, but what NCCL sees of the machine.
void write_topology(const std::string& folder) {
  dump_nccl_to("", (std::filesystem::path(folder) / "nccl-topo.xml").string());
  const GpuGroup gpus(1);
  const Collectives alone(gpus, {0});
}

}  // namespace

void measure_nccl(Session& session, const std::string& setting) {
  if (nccl_version().empty()) throw Unsupported("built without NCCL: its header or library was not found (-DNCCL_ROOT=...)");
  if (device_count() == 1) return write_topology(session.options().out);
  if (setting == "default") return measure_setting(session, setting);
  try {  // a forced transport or protocol may be impossible here
    measure_setting(session, setting);
  } catch (const BenchError& e) {
    throw Unsupported(std::string("NCCL refuses: ") + e.what());
  }
}

void measure_own(Session& session) {
  Results rows = continued(session, "collective.csv", kColumns);
  constexpr std::size_t kMostOneShot = std::size_t{4} << 20;
  std::size_t points = 0;
  for (const int n : group_sizes())
    points += message_sizes(n, kMostOneShot, true, session.options().quick).size() +
              message_sizes(n, kMostBytes, true, session.options().quick).size();
  session.begin("own", points);
  for (const int n : group_sizes()) {
    const GpuGroup gpus(n);
    OwnAllReduce ours(gpus, first(n), kMostBytes);
    StartLine start(gpus);
    const GroupBuffers buffers(gpus, kMostBytes);
    for (const OwnShape shape : {OwnShape::one_shot, OwnShape::two_shot}) {
      const bool one = shape == OwnShape::one_shot;
      verify_own_all_reduce(gpus, ours, shape);
      for (const std::size_t bytes : message_sizes(n, one ? kMostOneShot : kMostBytes, true, session.options().quick)) {
        const Key key{one ? "suite-1/one_shot" : "suite-1/two_shot", "all_reduce", "bfloat16", std::to_string(n), std::to_string(bytes)};
        if (!rows.has(key))
          rows.add(key, time_group(gpus, start, calls_for(bytes),
                                   [&](int) { ours.enqueue(shape, buffers.in, buffers.out, bytes, gpus.streams()); }, timing()));
        session.tick();
      }
    }
  }
  session.end();
}

}  // namespace moe::bench
