// How fast is the engine? Run by hand: moe-bench --benchmark_filter=engine
#include "engine/engine.hpp"

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "program/builder.hpp"

using namespace moe;

namespace {

constexpr int kGpus = 8, kLayers = 61;

Resources box() {
  Resources resources;
  for (int i = 0; i < 64; ++i) resources.server_names.push_back("server");
  for (int i = 0; i < 2 * kGpus; ++i) resources.capacity.push_back(from_GBps(50));  // ports up, ports down
  for (int i = 0; i < 8; ++i) resources.capacity.push_back(from_GBps(52));  // uplinks up, uplinks down
  for (int i = 0; i < 2; ++i) resources.capacity.push_back(from_GBps(60));  // between the sockets
  return resources;
}

/// Four switches with two GPUs each, two switches per socket.
std::vector<LinkId> route(int from, int to) {
  const auto link = [](int number) { return LinkId(number); };
  std::vector<LinkId> path{link(from)};
  if (from / 2 != to / 2) path.push_back(link(16 + from / 2));
  if (from / 4 != to / 4) path.push_back(link(24 + from / 4));
  if (from / 2 != to / 2) path.push_back(link(20 + to / 2));
  path.push_back(link(8 + to));
  return path;
}

/// Ops in `lanes` chains of their own server; lane lengths differ so that events do not coincide.
Program chains(int lanes, int ops) {
  Builder b;
  std::vector<OpId> last(static_cast<std::size_t>(lanes), kNoOp);
  for (int i = 0; i < ops; ++i) {
    const int lane = i % lanes;
    const OpId op = b.compute(ServerId(lane), Time{1000 + 37 * lane + i % 11}, Category::attention, {});
    OpId& before = last[static_cast<std::size_t>(lane)];
    if (before != kNoOp) b.order(before, op);
    before = op;
  }
  return b.seal();
}

/// `layers` times dispatch, experts, combine over eight GPUs. skew 0: all messages of one size.
Program all_to_all(int layers, double skew) {
  Random random(1);
  Builder b;
  OpId before = b.join({});
  for (int layer = 0; layer < 2 * layers; ++layer) {
    const OpId after = b.join({});
    for (int from = 0; from < kGpus; ++from) {
      for (int to = 0; to < kGpus; ++to) {
        if (from == to) continue;
        const Bytes bytes{300e3 * (1 + skew * random.uniform())};
        const OpId op =
            b.transfer(route(from, to), bytes, from_us(from / 4 == to / 4 ? 1 : 2), Category::all_to_all, {});
        b.order(before, op);
        b.order(op, after);
      }
    }
    before = after;
  }
  return b.seal();
}

void play(benchmark::State& state, const Program& program, Sharing sharing) {
  const Resources resources = box();
  std::uint64_t events = 0, solves = 0;
  for (auto _ : state) {
    const Timeline timeline = run(program, resources, sharing);
    events += timeline.events;
    solves += timeline.solves;
    benchmark::DoNotOptimize(timeline.makespan);
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["solves"] = static_cast<double>(solves) / static_cast<double>(state.iterations());
  state.counters["ops"] = static_cast<double>(program.size());
}

void engine_chain(benchmark::State& state) {
  play(state, chains(1, static_cast<int>(state.range(0))), Sharing::max_min);
}
void engine_lanes(benchmark::State& state) {
  play(state, chains(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))), Sharing::max_min);
}
void engine_uniform_all_to_all(benchmark::State& state) {
  play(state, all_to_all(kLayers, 0), state.range(0) == 0 ? Sharing::alone : Sharing::max_min);
}
void engine_skewed_all_to_all(benchmark::State& state) {
  play(state, all_to_all(kLayers, 1), Sharing::max_min);
}

void engine_build_and_run_folded_step(benchmark::State& state) {
  const Resources resources = box();
  for (auto _ : state) {
    const Timeline timeline = run(chains(1, 1500), resources, Sharing::max_min);
    benchmark::DoNotOptimize(timeline.makespan);
  }
}
void engine_build_unfolded_step(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(chains(8, 15'000).size());
}

}  // namespace

BENCHMARK(engine_chain)->Arg(1500)->Arg(100'000);
BENCHMARK(engine_lanes)->Args({8, 15'000})->Args({64, 15'000})->Args({64, 100'000});
BENCHMARK(engine_uniform_all_to_all)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(engine_skewed_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK(engine_build_and_run_folded_step)->Unit(benchmark::kMicrosecond);
BENCHMARK(engine_build_unfolded_step)->Unit(benchmark::kMicrosecond);
