#include "replay/graph.hpp"

#include <algorithm>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// Events of a row of replays; more replays than this are timed in parts.
constexpr int kMostInFlight = 64;

}  // namespace

Stream::Stream() { BENCH_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
Stream::~Stream() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Graph::Graph(cudaStream_t stream, const std::function<void(cudaStream_t)>& body) {
  // Relaxed: other threads capture and call the runtime at the same time.
  BENCH_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  body(stream);
  cudaGraph_t graph = nullptr;
  BENCH_CHECK(cudaStreamEndCapture(stream, &graph));
  BENCH_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes_));
  BENCH_CHECK(cudaGraphInstantiate(&exec_, graph, 0));
  BENCH_CHECK(cudaGraphDestroy(graph));
  BENCH_CHECK(cudaGraphUpload(exec_, stream));
  BENCH_CHECK(cudaStreamSynchronize(stream));
}

Graph::~Graph() {
  if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
}

std::vector<double> Graph::replay(cudaStream_t stream, int times) const {
  std::vector<double> out;
  std::vector<cudaEvent_t> events(kMostInFlight + 1);
  for (cudaEvent_t& e : events) BENCH_CHECK(cudaEventCreate(&e));
  while (static_cast<int>(out.size()) < times) {
    const int now = std::min(kMostInFlight, times - static_cast<int>(out.size()));
    BENCH_CHECK(cudaEventRecord(events[0], stream));
    for (int i = 0; i < now; ++i) {
      BENCH_CHECK(cudaGraphLaunch(exec_, stream));
      BENCH_CHECK(cudaEventRecord(events[static_cast<std::size_t>(i) + 1], stream));
    }
    BENCH_CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < now; ++i) {
      float ms = 0;
      BENCH_CHECK(cudaEventElapsedTime(&ms, events[static_cast<std::size_t>(i)], events[static_cast<std::size_t>(i) + 1]));
      out.push_back(ms * 1e3);
    }
  }
  for (cudaEvent_t& e : events) cudaEventDestroy(e);
  return out;
}

}  // namespace moe::bench
