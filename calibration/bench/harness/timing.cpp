#include "harness/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// Two events and the time between them. In a capture they become nodes of the graph, so that the time of starting the
/// graph is not in.
class Stopwatch {
 public:
  Stopwatch() {
    BENCH_CHECK(cudaEventCreate(&start_));
    BENCH_CHECK(cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start(cudaStream_t stream, bool captured) { record(start_, stream, captured); }
  void stop(cudaStream_t stream, bool captured) { record(stop_, stream, captured); }
  /// Waits for the stream.
  double us(cudaStream_t stream) const {
    BENCH_CHECK(cudaStreamSynchronize(stream));
    float ms = 0;
    BENCH_CHECK(cudaEventElapsedTime(&ms, start_, stop_));
    return 1e3 * static_cast<double>(ms);
  }

 private:
  static void record(cudaEvent_t event, cudaStream_t stream, bool captured) {
    BENCH_CHECK(cudaEventRecordWithFlags(event, stream, captured ? cudaEventRecordExternal : cudaEventRecordDefault));
  }
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

/// A captured and instantiated graph.
class Graph {
 public:
  template <class Record>
  Graph(cudaStream_t stream, const Record& record) {
    cudaGraph_t graph = nullptr;
    BENCH_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      record();
    } catch (...) {  // leave the stream usable
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    BENCH_CHECK(cudaStreamEndCapture(stream, &graph));
    const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    BENCH_CHECK(made);
  }
  ~Graph() { cudaGraphExecDestroy(exec_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void replay(cudaStream_t stream) const { BENCH_CHECK(cudaGraphLaunch(exec_, stream)); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

double median_of(std::vector<double>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// Replays until the interval is narrow or time is up. replay: runs all calls once, microseconds.
template <class Replay>
Timing repeat(int calls, const TimingOptions& options, const Replay& replay) {
  replay();  // warm-up: uploads the graph, fills instruction caches
  std::vector<double> us;
  double spent_ms = 0;
  Timing t;
  while (static_cast<int>(us.size()) < options.most_replays) {
    const double all = replay();
    us.push_back(all / calls);
    spent_ms += 1e-3 * all;
    const int least = spent_ms > options.most_ms ? std::min(3, options.least_replays) : options.least_replays;
    if (static_cast<int>(us.size()) < least) continue;
    t = summarise(us);
    if (t.half_width_pct <= options.half_width_pct || spent_ms > options.most_ms) break;
  }
  t.calls = calls;
  return t;
}

}  // namespace

Timing summarise(std::vector<double> us) {
  Timing t;
  if (us.empty()) return t;
  std::vector<double> work = us;
  const double median = median_of(work);
  for (double& w : work) w = std::abs(w - median);
  const double deviation = 1.4826 * median_of(work);  // of a normal spread
  const auto outlier = [&](double v) { return std::abs(v - median) > 5 * deviation + 0.002 * median; };
  const std::size_t before = us.size();
  std::erase_if(us, outlier);
  t.outliers = static_cast<int>(before - us.size());
  t.replays = static_cast<int>(us.size());
  t.us = median_of(us);
  // The median of n normal values has 1.2533 times the deviation of their mean; 1.96 deviations hold 95 %.
  t.half_width_pct = 100 * 1.96 * 1.2533 * deviation / std::sqrt(static_cast<double>(us.size())) / t.us;
  return t;
}

int cold_copies(double bytes_per_call, const TimingOptions& options) {
  const double wanted = std::ceil(3.0 * static_cast<double>(device_facts().l2_bytes) / std::max(1.0, bytes_per_call));
  return static_cast<int>(std::clamp(wanted, 2.0, static_cast<double>(options.most_calls)));
}

Timing time_graph(cudaStream_t stream, int calls, int copies, const Call& call, const TimingOptions& options) {
  call(stream, copies - 1);  // outside capture: lazy loading and function attributes
  BENCH_CHECK(cudaStreamSynchronize(stream));
  Stopwatch watch;
  const Graph graph(stream, [&] {
    call(stream, copies - 1);  // the clock starts when the GPU is at work
    watch.start(stream, true);
    for (int i = 0; i < calls; ++i) call(stream, i % copies);
    watch.stop(stream, true);
  });
  return repeat(calls, options, [&] {
    graph.replay(stream);
    return watch.us(stream);
  });
}

Timing time_stream(cudaStream_t stream, int calls, int copies, const Call& call, const TimingOptions& options) {
  Stopwatch watch;
  return repeat(calls, options, [&] {
    call(stream, copies - 1);
    watch.start(stream, false);
    for (int i = 0; i < calls; ++i) call(stream, i % copies);
    watch.stop(stream, false);
    return watch.us(stream);
  });
}

Timing time_cold(cudaStream_t stream, double bytes_per_call, int most_copies, const Call& call,
                 const TimingOptions& options) {
  const int copies = std::min(most_copies, cold_copies(bytes_per_call, options));
  constexpr int kLeastCalls = 12;  // a replay is long against the time between two nodes
  const int rounds = (kLeastCalls + copies - 1) / copies;
  return time_graph(stream, rounds * copies, copies, call, options);
}

}  // namespace moe::bench
