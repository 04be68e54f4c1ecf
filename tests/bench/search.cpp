// How long does a plan search take? All plans of 8 GPUs x batch x context of Kimi-K2.5 INT4, about 10,000 points.
// Run by hand from the repository root; goal: under 5 s on two cores.
#include <benchmark/benchmark.h>

#include "search/search.hpp"

static void search_of_all_plans(benchmark::State& state) {
  moe::SearchRequest request;
  request.file = "experiments/kimi-k2.5-int4-tp8.yaml";
  request.axes = {"batch.sequences=1..512x2", "batch.context=1k,4k,16k,64k,128k"};
  std::uint64_t points = 0, answered = 0;
  for (auto _ : state) {
    const moe::SearchResult r = moe::search(request);
    points = r.points;
    answered = r.answered;
  }
  state.counters["points"] = static_cast<double>(points);
  state.counters["answered"] = static_cast<double>(answered);
}
BENCHMARK(search_of_all_plans)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
