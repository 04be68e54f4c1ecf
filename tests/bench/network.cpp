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

/// Attention, dispatch, experts, combine in 61 layers on 8 GPUs; tokens choose experts unevenly.
Program expert_step(const Box& b, CollectiveWriter& writer, Builder& builder, double skew) {
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
        for (double& bytes : row) bytes = 60e3 * (1 + skew * random.uniform());
      last = writer.write(r, computed, layer);
    }
  benchmark::DoNotOptimize(b.machine.gpus.size());
  return builder.seal();
}

void network_expert_step(benchmark::State& state, const std::string& name, double skew) {
  const Box b = box(name);
  Resources resources = fabric(b.machine);
  for (int i = 0; i < kGpus; ++i) resources.server_names.push_back("gpu");
  std::uint64_t solves = 0;
  for (auto _ : state) {
    Builder builder;
    CollectiveWriter writer(builder, b.machine, b.routes, b.cost);
    const Program program = expert_step(b, writer, builder, skew);
    PcieRule rule(b.machine, writer.reads());
    const Timeline t = run(program, resources, Sharing::max_min, &rule);
    solves = t.solves;
    benchmark::DoNotOptimize(t.makespan);
  }
  state.counters["solves"] = static_cast<double>(solves);
}

}  // namespace

BENCHMARK_CAPTURE(network_expert_step, direct_even, "turin-2s-direct", 0.0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, direct_skewed, "turin-2s-direct", 1.0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, switches_even, "wrx90-2sw-flat", 0.0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(network_expert_step, switches_skewed, "wrx90-2sw-flat", 1.0)->Unit(benchmark::kMillisecond);
