#include "comm/group_graph.hpp"

#include <algorithm>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// Ends every capture that was begun; leaves the streams usable whatever happened.
std::vector<cudaGraph_t> end_captures(const GpuGroup& gpus, int begun, bool keep) {
  std::vector<cudaGraph_t> graphs;
  for (int gpu = 0; gpu < begun; ++gpu) {
    const OnDevice here(gpus.device(gpu));
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(gpus.stream(gpu), &graph);
    if (keep) BENCH_CHECK(ended);
    graphs.push_back(graph);
  }
  return graphs;
}

/// Events around the calls on one GPU, recorded by nodes of the graph.
struct Watch {
  cudaEvent_t from = nullptr, to = nullptr;
};

class Watches {
 public:
  explicit Watches(const GpuGroup& gpus) : gpus_(gpus), all_(static_cast<std::size_t>(gpus.size())) {
    for (int gpu = 0; gpu < gpus.size(); ++gpu) {
      const OnDevice here(gpus.device(gpu));
      BENCH_CHECK(cudaEventCreate(&at(gpu).from));
      BENCH_CHECK(cudaEventCreate(&at(gpu).to));
    }
  }
  ~Watches() {
    for (const Watch& w : all_) cudaEventDestroy(w.from), cudaEventDestroy(w.to);
  }
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;
  void record(cudaEvent_t Watch::*event) {
    for (int gpu = 0; gpu < gpus_.size(); ++gpu) {
      const OnDevice here(gpus_.device(gpu));
      BENCH_CHECK(cudaEventRecordWithFlags(at(gpu).*event, gpus_.stream(gpu), cudaEventRecordExternal));
    }
  }
  /// Of the slowest GPU.
  double us() {
    float most = 0;
    for (const Watch& w : all_) {
      float ms = 0;
      BENCH_CHECK(cudaEventElapsedTime(&ms, w.from, w.to));
      most = std::max(most, ms);
    }
    return 1e3 * static_cast<double>(most);
  }

 private:
  Watch& at(int gpu) { return all_[static_cast<std::size_t>(gpu)]; }
  const GpuGroup& gpus_;
  std::vector<Watch> all_;
};

}  // namespace

GroupGraph::GroupGraph(const GpuGroup& gpus, const std::function<void()>& record) : gpus_(gpus) {
  int begun = 0;
  try {
    for (; begun < gpus.size(); ++begun) {
      const OnDevice here(gpus.device(begun));
      BENCH_CHECK(cudaStreamBeginCapture(gpus.stream(begun), cudaStreamCaptureModeThreadLocal));
    }
    record();
  } catch (...) {
    for (const cudaGraph_t graph : end_captures(gpus, begun, false))
      if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  const std::vector<cudaGraph_t> graphs = end_captures(gpus, begun, true);
  for (int gpu = 0; gpu < gpus.size(); ++gpu) {
    const OnDevice here(gpus.device(gpu));
    cudaGraphExec_t exec = nullptr;
    BENCH_CHECK(cudaGraphInstantiate(&exec, graphs[static_cast<std::size_t>(gpu)], 0));
    execs_.push_back(exec);
    BENCH_CHECK(cudaGraphUpload(exec, gpus.stream(gpu)));
    BENCH_CHECK(cudaGraphDestroy(graphs[static_cast<std::size_t>(gpu)]));
  }
  gpus.synchronise();
}

GroupGraph::~GroupGraph() {
  for (const cudaGraphExec_t exec : execs_) cudaGraphExecDestroy(exec);
}

void GroupGraph::launch() const {
  for (int gpu = 0; gpu < gpus_.size(); ++gpu) {
    const OnDevice here(gpus_.device(gpu));
    BENCH_CHECK(cudaGraphLaunch(execs_[static_cast<std::size_t>(gpu)], gpus_.stream(gpu)));
  }
}

Timing time_group(const GpuGroup& gpus, StartLine& start, int calls, const std::function<void(int)>& call,
                  const TimingOptions& options) {
  call(0);
  gpus.synchronise();
  Watches watches(gpus);
  const GroupGraph graph(gpus, [&] {
    start.wait(gpus);
    watches.record(&Watch::from);
    for (int i = 0; i < calls; ++i) call(i);
    watches.record(&Watch::to);
  });
  const auto replay_us = [&] {
    graph.launch();
    gpus.synchronise();
    return watches.us();
  };
  replay_us();  // warm-up
  std::vector<double> us;
  double spent_ms = 0;
  Timing t;
  while (static_cast<int>(us.size()) < options.most_replays) {
    const double replay = replay_us();
    us.push_back(replay / calls);
    spent_ms += 1e-3 * replay;
    if (static_cast<int>(us.size()) < options.least_replays) continue;
    t = summarise(us);
    if (t.half_width_pct <= options.half_width_pct || spent_ms > options.most_ms) break;
  }
  t.calls = calls;
  return t;
}

}  // namespace moe::bench
