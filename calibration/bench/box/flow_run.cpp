#include "box/flow_run.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "comm/start_line.hpp"
#include "harness/buffer.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

struct PinnedBuffer {
  void* data = nullptr;
  PinnedBuffer() { BENCH_CHECK(cudaHostAlloc(&data, kFlowBytes, cudaHostAllocPortable)); }
  ~PinnedBuffer() { cudaFreeHost(data); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
};

/// One end of a flow.
class End {
 public:
  explicit End(int gpu) {
    if (gpu == kHost) {
      host_ = std::make_unique<PinnedBuffer>();
      return;
    }
    const OnDevice here(gpu);
    device_ = Buffer(kFlowBytes, Fill::bits);
  }
  void* data() const { return host_ ? host_->data : device_.as(); }

 private:
  std::unique_ptr<PinnedBuffer> host_;
  Buffer device_;
};

/// A flow with its buffers, on a stream of the GPU whose copy engine works.
struct Lane {
  int gpu = 0;
  End from, to;
  cudaStream_t stream = nullptr;
  cudaEvent_t end = nullptr;

  Lane(const Flow& f, bool reads)
      : gpu(f.from == kHost || (reads && f.to != kHost) ? f.to : f.from), from(f.from), to(f.to) {
    const OnDevice here(gpu);
    BENCH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    BENCH_CHECK(cudaEventCreate(&end));
  }
  ~Lane() {
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
};

class FlowRun {
 public:
  FlowRun(const GpuGroup& gpus, const std::vector<Flow>& flows, bool reads) : gpus_(gpus), gate_(gpus) {
    for (const Flow& f : flows) {
      lanes_.push_back(std::make_unique<Lane>(f, reads));
      cudaEvent_t& start = start_[lanes_.back()->gpu];
      if (start != nullptr) continue;
      const OnDevice here(lanes_.back()->gpu);
      BENCH_CHECK(cudaEventCreate(&start));
    }
  }
  ~FlowRun() {
    for (const auto& [gpu, event] : start_) cudaEventDestroy(event);
  }
  FlowRun(const FlowRun&) = delete;
  FlowRun& operator=(const FlowRun&) = delete;

  /// Of the last flow.
  double us(int repeats) {
    for (const auto& [gpu, event] : start_) {
      const OnDevice here(gpu);
      gate_.hold(gpus_.stream(gpu));
      BENCH_CHECK(cudaEventRecord(event, gpus_.stream(gpu)));
    }
    for (const auto& lane : lanes_) {
      const OnDevice here(lane->gpu);
      BENCH_CHECK(cudaStreamWaitEvent(lane->stream, start_.at(lane->gpu), 0));
      for (int i = 0; i < repeats; ++i)
        BENCH_CHECK(cudaMemcpyAsync(lane->to.data(), lane->from.data(), kFlowBytes, cudaMemcpyDefault, lane->stream));
      BENCH_CHECK(cudaEventRecord(lane->end, lane->stream));
    }
    gate_.release();
    float most = 0;
    for (const auto& lane : lanes_) {
      float ms = 0;
      BENCH_CHECK(cudaEventSynchronize(lane->end));
      BENCH_CHECK(cudaEventElapsedTime(&ms, start_.at(lane->gpu), lane->end));
      most = std::max(most, ms);
    }
    return 1e3 * static_cast<double>(most);
  }

 private:
  const GpuGroup& gpus_;
  Gate gate_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<int, cudaEvent_t> start_;
};

}  // namespace

Timing time_flows(const GpuGroup& gpus, const std::vector<Flow>& flows, bool reads) {
  constexpr double kWantedUs = 8000;
  constexpr int kMostRepeats = 100, kLeastRuns = 4, kMostRuns = 12;
  FlowRun run(gpus, flows, reads);
  run.us(1);
  const int repeats = static_cast<int>(std::clamp(kWantedUs / run.us(1), 1.0, static_cast<double>(kMostRepeats)));
  std::vector<double> us;
  Timing t;
  while (static_cast<int>(us.size()) < kMostRuns) {
    us.push_back(run.us(repeats) / repeats);
    if (static_cast<int>(us.size()) < kLeastRuns) continue;
    t = summarise(us);
    if (t.half_width_pct <= 1) break;
  }
  t.calls = repeats;
  return t;
}

}  // namespace moe::bench
