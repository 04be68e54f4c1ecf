// The GPUs that work together: a stream on each, and memory of the others mapped where the machine can.
//
//   GpuGroup gpus(2);                            // CUDA devices 0 and 1
//   { OnDevice here(1); Buffer b(1 << 20); }     // memory of device 1
//   gpus.peers(0, 1)                             // device 0 reads and writes memory of device 1
#pragma once
#include <cuda_runtime_api.h>

#include <vector>

namespace moe::bench {

/// Number of CUDA devices; 0 without a driver.
int device_count();

/// Makes a device the current one for a while.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

class GpuGroup {
 public:
  /// Devices 0 to count - 1. Throws Unsupported when the machine has fewer.
  explicit GpuGroup(int count);
  /// GPU g of the group is devices[g]. One device may be there twice, to check kernels on a machine with one GPU: a
  /// device is a peer of itself, and two streams of it run at the same time. NCCL refuses such a group.
  explicit GpuGroup(std::vector<int> devices);
  ~GpuGroup();
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;
  int size() const { return static_cast<int>(streams_.size()); }
  /// CUDA's number.
  int device(int gpu) const { return devices_[static_cast<std::size_t>(gpu)]; }
  cudaStream_t stream(int gpu) const { return streams_[static_cast<std::size_t>(gpu)]; }
  const std::vector<cudaStream_t>& streams() const { return streams_; }
  /// Whether `gpu` may use memory of `other` directly (true for itself).
  bool peers(int gpu, int other) const { return peers_[static_cast<std::size_t>(gpu * size() + other)]; }
  /// Whether every GPU may use memory of every other one.
  bool all_peers() const;
  void synchronise() const;

 private:
  std::vector<int> devices_;
  std::vector<cudaStream_t> streams_;
  std::vector<bool> peers_;
};

}  // namespace moe::bench
