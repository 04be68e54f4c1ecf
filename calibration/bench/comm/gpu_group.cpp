#include "comm/gpu_group.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "harness/check.hpp"

namespace moe::bench {

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) cudaGetLastError(), count = 0;
  return count;
}

OnDevice::OnDevice(int device) {
  BENCH_CHECK(cudaGetDevice(&before_));
  BENCH_CHECK(cudaSetDevice(device));
}

namespace {

/// Maps `other`'s memory for the current device. False when the machine cannot.
bool map(int device, int other) {
  int can = 0;
  BENCH_CHECK(cudaDeviceCanAccessPeer(&can, device, other));
  if (can == 0) return false;
  const cudaError_t mapped = cudaDeviceEnablePeerAccess(other, 0);
  if (mapped == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
  else BENCH_CHECK(mapped);
  return true;
}

std::vector<int> first(int count) {
  if (device_count() < count)
    throw Unsupported(fmt::format("needs {} GPUs, this machine has {}", count, device_count()));
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

}  // namespace

GpuGroup::GpuGroup(int count) : GpuGroup(first(count)) {}

GpuGroup::GpuGroup(std::vector<int> devices) : devices_(std::move(devices)) {
  for (const int device : devices_) {
    const OnDevice here(device);
    cudaStream_t stream = nullptr;
    BENCH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    streams_.push_back(stream);
    for (const int other : devices_) peers_.push_back(other == device || map(device, other));
  }
}

GpuGroup::~GpuGroup() {
  for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

bool GpuGroup::all_peers() const {
  return std::all_of(peers_.begin(), peers_.end(), [](bool mapped) { return mapped; });
}

void GpuGroup::synchronise() const {
  for (const cudaStream_t stream : streams_) BENCH_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace moe::bench
