// The same step on several GPUs: one CUDA graph per GPU, launched together, as engines with one process per GPU do it.
//
//   GroupGraph step(gpus, [&] { for (...) comms.enqueue(..., gpus.streams()); });
//   step.launch();                                  // on every GPU's stream
//   Timing t = time_group(gpus, start, 20, [&](int call) { ... });
#pragma once
#include <functional>

#include "comm/gpu_group.hpp"
#include "comm/start_line.hpp"
#include "harness/timing.hpp"

namespace moe::bench {

class GroupGraph {
 public:
  /// `record` puts work on the group's streams, which are being captured; the current device does not matter to it.
  GroupGraph(const GpuGroup& gpus, const std::function<void()>& record);
  ~GroupGraph();
  GroupGraph(const GroupGraph&) = delete;
  GroupGraph& operator=(const GroupGraph&) = delete;
  void launch() const;

 private:
  const GpuGroup& gpus_;
  std::vector<cudaGraphExec_t> execs_;
};

/// Time of one of `calls` calls in a row in such a graph: from the moment when all GPUs have come to the start line to
/// the end on the last GPU. `call(i)` enqueues on all streams of the group. Runs it once before capturing, so that
/// lazy set-up is done.
Timing time_group(const GpuGroup& gpus, StartLine& start, int calls, const std::function<void(int)>& call,
                  const TimingOptions& options = {});

}  // namespace moe::bench
