// How fast is one decode step: lowering and engine, files already read.
#include <benchmark/benchmark.h>

#include "engine/engine.hpp"
#include "lower/lower.hpp"

namespace {

moe::Case kimi(const char* sequences) {
  moe::Diagnostics warnings;
  return moe::load_case(std::string(MOE_SIM_SOURCE_DIR) + "/experiments/kimi-k2.5-int4-tp8.yaml",
                        {{"batch.sequences", sequences}}, warnings);
}

/// 61 layers, TP8 on 8 GPUs. Arguments: sequences, whether identical ranks are folded.
void kimi_tp8_step(benchmark::State& state) {
  const moe::Case c = kimi(std::to_string(state.range(0)).c_str());
  moe::LowerOptions options;
  options.fold = state.range(1) != 0;
  for (auto _ : state) {
    const moe::Lowered l = moe::lower_step(c, options);
    benchmark::DoNotOptimize(moe::run(l.program, l.resources, moe::Sharing::max_min).makespan);
    ++options.step;  // a fresh routing draw, so that nothing is remembered
  }
}
BENCHMARK(kimi_tp8_step)->ArgNames({"sequences", "folded"})->ArgsProduct({{1, 8, 32, 64, 256}, {1, 0}})->Unit(benchmark::kMicrosecond);

}  // namespace
