// A line that no GPU's stream crosses before all GPUs have come to it, in pinned host memory: it needs no peer access.
//
//   StartLine start(gpus);
//   start.wait(gpus);        // a kernel on every stream; may be captured and replayed
#pragma once
#include <cstdint>

#include "comm/gpu_group.hpp"

namespace moe::bench {

class StartLine {
 public:
  explicit StartLine(const GpuGroup& gpus);
  ~StartLine();
  StartLine(const StartLine&) = delete;
  StartLine& operator=(const StartLine&) = delete;
  void wait(const GpuGroup& gpus);

 private:
  std::uint32_t* flags_ = nullptr;  ///< [gpu][other], then how often each GPU has been here; 64 bytes apart
};

/// Holds streams back until the host lets go: work queued behind it starts at once, without launch gaps.
class Gate {
 public:
  explicit Gate(const GpuGroup& gpus);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void hold(cudaStream_t stream);  ///< of the current device
  void release();                  ///< everything that is held

 private:
  std::uint32_t* open_ = nullptr;  ///< the last round that may pass
  std::uint32_t round_ = 1;
};

}  // namespace moe::bench
