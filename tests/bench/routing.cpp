// How fast is a routing draw: 60 layers of one step, and their view by rank.
#include <benchmark/benchmark.h>

#include "workload/router.hpp"

namespace {

constexpr int kLayers = 60, kTokens = 64;

void draw_layers(benchmark::State& state, const moe::Routing& routing, const moe::RouterShape& shape) {
  int step = 0;
  for (auto _ : state) {
    moe::Router router(routing, shape, kTokens);  // as a step does: a fresh router
    router.start_step(routing.temporal > 0 ? 0 : step++);
    for (int layer = 0; layer < kLayers; ++layer) benchmark::DoNotOptimize(router.draw(layer).data());
  }
}

const moe::RouterShape kKimi{384, 8};

void uniform(benchmark::State& state) { draw_layers(state, {}, kKimi); }
void power_law(benchmark::State& state) { draw_layers(state, {.kind = moe::Routing::Kind::power_law}, kKimi); }
void similar(benchmark::State& state) { draw_layers(state, {.similarity = 0.6}, kKimi); }
void power_law_similar(benchmark::State& state) {
  draw_layers(state, {.kind = moe::Routing::Kind::power_law, .similarity = 0.6}, kKimi);
}
void oea(benchmark::State& state) { draw_layers(state, {.oea_keep = 4}, kKimi); }
void grouped(benchmark::State& state) { draw_layers(state, {}, {256, 8, 8, 4}); }

/// One router over many steps.
void temporal(benchmark::State& state) {
  moe::Router router({.temporal = 0.5}, kKimi, kTokens);
  int step = 0;
  for (auto _ : state) {
    router.start_step(step++);
    for (int layer = 0; layer < kLayers; ++layer) benchmark::DoNotOptimize(router.draw(layer).data());
  }
}

/// DP attention on 8 ranks with EP8: draws and rank loads.
void by_rank(benchmark::State& state) {
  const moe::ExpertMap map = moe::place_experts({}, 8, std::vector<double>(384, 1.0));
  const std::vector<moe::Source> sources(8, moe::Source{8});
  int step = 0;
  moe::Router router({}, kKimi, kTokens);
  for (auto _ : state) {
    router.start_step(step++);
    for (int layer = 0; layer < kLayers; ++layer) benchmark::DoNotOptimize(router.draw(layer, sources, map).max_rows());
  }
}

/// Balanced placement of one layer, 16 replicas.
void placement(benchmark::State& state) {
  moe::Router router({.kind = moe::Routing::Kind::power_law}, kKimi, kTokens);
  const moe::Placement balanced{moe::Placement::Kind::balanced, 16};
  for (auto _ : state) benchmark::DoNotOptimize(moe::place_experts(balanced, 8, router.expected_load(0)).ranks());
}

BENCHMARK(uniform)->Unit(benchmark::kMicrosecond);
BENCHMARK(power_law)->Unit(benchmark::kMicrosecond);
BENCHMARK(similar)->Unit(benchmark::kMicrosecond);
BENCHMARK(power_law_similar)->Unit(benchmark::kMicrosecond);
BENCHMARK(oea)->Unit(benchmark::kMicrosecond);
BENCHMARK(grouped)->Unit(benchmark::kMicrosecond);
BENCHMARK(temporal)->Unit(benchmark::kMicrosecond);
BENCHMARK(by_rank)->Unit(benchmark::kMicrosecond);
BENCHMARK(placement)->Unit(benchmark::kMicrosecond);

}  // namespace
