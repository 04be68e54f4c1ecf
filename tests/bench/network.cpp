// How long does a step with all-to-all as flows take? Run by hand: moe-bench --benchmark_filter=network
#include <benchmark/benchmark.h>

#include <numeric>

#include "base/random.hpp"
#include "cost/load_profile.hpp"
#include "engine/engine.hpp"
#include "machine/load.hpp"
#include "network/collective_flows.hpp"
#include "network/fabric.hpp"
#include "network/pcie_rule.hpp"

using namespace moe;

namespace {

constexpr int kGpus = 8, kLayers = 61;

struct Box {
  Machine machine;
  Routes routes;
  CommCost cost;
};

Box box(const std::string& name) {
  Diagnostics d;
  const std::string root = MOE_SIM_SOURCE_DIR;
  Machine m = load_machine(root + "/topologies/" + name + ".yaml", d);
  Routes routes(m);
  return {m, routes, load_profile(root + "/calibration/profiles/rtx-pro-6000.yaml", d).comm};
}

/// Bytes of a message. `distinct`: every one has its own size, the worst case; else what 8 tokens per GPU with 8 experts
/// each send, 7168 B per token and expert: sizes repeat, so transfers end together.
double message_bytes(Random& random, bool distinct) {
  constexpr double kTokenBytes = 7168;
  if (distinct) return 60e3 * (1 + random.uniform());
  int tokens = 0;
  for (int draw = 0; draw < 64; ++draw) tokens += random.below(kGpus) == 0 ? 1 : 0;
  return tokens * kTokenBytes;
}

/// Attention, dispatch, experts, combine in 61 layers on 8 GPUs; tokens choose experts unevenly.
Program expert_step(CollectiveWriter& writer, Builder& builder, bool distinct) {
  Random random(1);
  CollectiveRequest r;
  r.op = CollectiveOp::all_to_all;
  r.gpus.resize(kGpus);
  std::iota(r.gpus.begin(), r.gpus.end(), 0);
  r.pair_bytes.assign(kGpus, std::vector<double>(kGpus));
  std::vector<OpId> last;
  for (int layer = 0; layer < kLayers; ++layer)
    for (int half = 0; half < 2; ++half) {
      std::vector<OpId> computed;
      for (int gpu = 0; gpu < kGpus; ++gpu) {
        computed.push_back(builder.compute(ServerId(gpu), from_us(20 + 5 * random.uniform()), Category::experts, {}));
        if (!last.empty()) builder.order(last[static_cast<std::size_t>(gpu)], computed.back());
      }
      for (auto& row : r.pair_bytes)
        for (double& bytes : row) bytes = message_bytes(random, distinct);
      last = writer.write(r, computed, layer);
    }
  return builder.seal();
}

/// `links`: factor on every link. At 1 messages of this size run at the rate of their sender and fill no link.
void network_expert_step(benchmark::State& state, const std::string& name, bool distinct, double links = 1) {
  const Box b = box(name);
  Resources resources = fabric(b.machine, links);
  for (int i = 0; i < kGpus; ++i) resources.server_names.push_back("gpu");
  std::uint64_t solves = 0;
  for (auto _ : state) {
    Builder builder;
    CollectiveWriter writer(builder, b.machine, b.routes, b.cost);
    const Program program = expert_step(writer, builder, distinct);
    PcieRule rule(b.machine, writer.reads());
    const Timeline t = run(program, resources, Sharing::max_min, &rule);
    solves = t.solves;
    benchmark::DoNotOptimize(t.makespan);
  }
  state.counters["solves"] = static_cast<double>(solves);
}

}  // namespace

BENCHMARK_CAPTURE(network_expert_step, sockets, "turin-2s-direct", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, switches, "wrx90-2sw-flat", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, sockets_all_sizes_differ, "turin-2s-direct", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, switches_all_sizes_differ, "wrx90-2sw-flat", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, switches_all_sizes_differ_links_full, "wrx90-2sw-flat", true, 0.3)
    ->Unit(benchmark::kMillisecond);
