#include "replay/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <barrier>
#include <exception>
#include <map>
#include <memory>
#include <thread>

#include "harness/check.hpp"
#include "harness/device_state.hpp"
#include "replay/graph.hpp"
#include "replay/rank.hpp"

namespace moe::bench {
namespace {

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[std::min(v.size() - 1, static_cast<std::size_t>(q * static_cast<double>(v.size())))];
}

std::vector<GroupTime> groups_of(const ReplayProgram& program) {
  std::vector<GroupTime> groups;
  for (const ReplayOp& op : program.ops) {
    if (op.rank != 0) continue;
    auto g = std::find_if(groups.begin(), groups.end(), [&](const GroupTime& t) { return t.name == op.name; });
    if (g == groups.end()) {
      groups.push_back({op.name, op.category, op.op_class, op.path});
      g = groups.end() - 1;
    }
    ++g->calls;
    g->simulated_us += op.simulated_us;
  }
  return groups;
}

/// All that the ranks share. A rank that fails takes the others along: they would wait for it in a collective.
struct Shared {
  explicit Shared(int ranks) : barrier(ranks), samples(static_cast<std::size_t>(ranks)) {}
  std::barrier<> barrier;
  std::vector<std::vector<double>> samples;
  std::vector<std::exception_ptr> failures;
};

class RankPlayer {
 public:
  RankPlayer(const ReplayProgram& program, const PlayOptions& options, int rank, Shared& shared, Played& out)
      : program_(program), options_(options), rank_(rank), shared_(shared), out_(out) {}

  void play(Rank& mine) {
    const Stream stream;
    mine.launch(stream.get(), [](const ReplayOp&) { return true; });  // libraries set up what they need
    BENCH_CHECK(cudaStreamSynchronize(stream.get()));
    const auto all = [](const ReplayOp&) { return true; };
    const std::vector<double> step = time(mine, stream.get(), all, options_.warm_ms, options_.replays);
    if (rank_ == 0) {
      out_.step_us = step;
      out_.median_us = quantile(step, 0.5);
      out_.low_us = quantile(step, 0.05);
      out_.high_us = quantile(step, 0.95);
      out_.weight_bytes = static_cast<double>(mine.weight_bytes());
      out_.cache_bytes = static_cast<double>(mine.cache_bytes());
    }
    if (!options_.attribute) return;
    const std::vector<GroupTime> groups = groups_of(program_);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::string& name = groups[i].name;
      const auto only = [&](const ReplayOp& op) { return op.name == name; };
      const auto without = [&](const ReplayOp& op) { return op.name != name; };
      const double alone_us = quantile(time(mine, stream.get(), only, 0, options_.part_replays), 0.5);
      const double rest_us = quantile(time(mine, stream.get(), without, 0, options_.part_replays), 0.5);
      if (rank_ != 0) continue;
      out_.groups[i].alone_us = alone_us;
      out_.groups[i].in_step_us = out_.median_us - rest_us;
    }
  }

 private:
  /// Slowest rank of every replay.
  std::vector<double> time(Rank& mine, cudaStream_t stream, const Rank::Filter& filter, double warm_ms, int replays) {
    const Graph graph(stream, [&](cudaStream_t s) { mine.launch(s, filter); });
    shared_.barrier.arrive_and_wait();
    auto& own = shared_.samples[static_cast<std::size_t>(rank_)];
    // Every rank replays equally often, or a collective waits for ever: the number of warm replays is the first rank's.
    own = graph.replay(stream, 3);
    shared_.barrier.arrive_and_wait();
    const double once_us = std::max(1.0, quantile(shared_.samples[0], 0.5));
    shared_.barrier.arrive_and_wait();
    graph.replay(stream, std::clamp(static_cast<int>(1000 * warm_ms / once_us), 1, 20000));
    own = graph.replay(stream, replays);
    shared_.barrier.arrive_and_wait();
    std::vector<double> slowest = shared_.samples[0];
    for (const auto& other : shared_.samples)
      for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], other[i]);
    shared_.barrier.arrive_and_wait();
    return slowest;
  }

  const ReplayProgram& program_;
  const PlayOptions& options_;
  int rank_;
  Shared& shared_;
  Played& out_;
};

}  // namespace

std::vector<std::string> refusals(const ReplayProgram& program) {
  std::map<std::string, int> counts;
  for (const ReplayOp& op : program.ops)
    if (const std::string why = refusal(op); !why.empty()) ++counts[fmt::format("{}: {}", op.name, why)];
  std::vector<std::string> out;
  for (const auto& [why, ops] : counts) out.push_back(fmt::format("{} ({} ops)", why, ops));
  return out;
}

Played play(const ReplayProgram& program, const PlayOptions& options) {
  const int ranks = program.ranks;
  int present = 0;
  BENCH_CHECK(cudaGetDeviceCount(&present));
  if (ranks > present) throw Unsupported(fmt::format("needs {} GPUs, this machine has {}", ranks, present));
  const auto device_of = [&](int rank) {
    return static_cast<std::size_t>(rank) < options.devices.size() ? options.devices[static_cast<std::size_t>(rank)] : rank;
  };
  Played out;
  out.groups = groups_of(program);
  Shared shared(ranks);
  shared.failures.resize(static_cast<std::size_t>(ranks));
  const CollectivesId id = ranks > 1 ? new_collectives_id() : CollectivesId{};
  const auto run = [&](int rank) {
    std::unique_ptr<Collectives> collectives;
    std::unique_ptr<Rank> mine;
    auto& failure = shared.failures[static_cast<std::size_t>(rank)];
    try {
      BENCH_CHECK(cudaSetDevice(device_of(rank)));
      if (ranks > 1) collectives = join_collectives(id, rank, ranks);
      mine = std::make_unique<Rank>(program, rank, collectives.get());
    } catch (...) {
      failure = std::current_exception();
    }
    shared.barrier.arrive_and_wait();
    for (const auto& f : shared.failures)
      if (f != nullptr) return;
    try {
      RankPlayer(program, options, rank, shared, out).play(*mine);
    } catch (const std::exception& e) {
      if (ranks == 1) {
        failure = std::current_exception();
        return;
      }
      fmt::print(stderr, "\nerror: {}: rank {}: {}\n", program.name, rank, e.what());
      std::exit(3);  // the other ranks wait in a collective for this one
    }
  };
  out.sm_mhz_before = device_state(device_of(0)).sm_mhz;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back(run, r);
  for (std::thread& t : threads) t.join();
  const DeviceState after = device_state(device_of(0));
  out.sm_mhz_after = after.sm_mhz;
  out.throttle = after.throttle;
  for (const auto& f : shared.failures)
    if (f != nullptr) std::rethrow_exception(f);
  return out;
}

}  // namespace moe::bench
