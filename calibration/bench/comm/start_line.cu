#include "comm/start_line.hpp"

#include "comm/flags.cuh"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

constexpr int kApart = 16;  // flags of 4 bytes, 64 bytes apart

__global__ void start_kernel(std::uint32_t* flags, int gpu, int gpus) {
  std::uint32_t* visits = flags + (gpus * gpus + gpu) * kApart;
  const std::uint32_t number = *visits + 1;
  __syncthreads();
  const int other = static_cast<int>(threadIdx.x);
  if (other < gpus) {
    Flag(flags[(other * gpus + gpu) * kApart]).store(number, cuda::memory_order_release);
    wait_for(flags + (gpu * gpus + other) * kApart, number);
  }
  __syncthreads();
  if (other == 0) *visits = number;
}

__global__ void gate_kernel(std::uint32_t* open, std::uint32_t round) { wait_for(open, round); }

std::uint32_t* pinned(std::size_t words) {
  void* data = nullptr;
  BENCH_CHECK(cudaHostAlloc(&data, words * sizeof(std::uint32_t), cudaHostAllocPortable | cudaHostAllocMapped));
  std::uint32_t* flags = static_cast<std::uint32_t*>(data);
  for (std::size_t i = 0; i < words; ++i) flags[i] = 0;
  return flags;
}

/// Loads a kernel on the current device, so that its first launch does not wait for work that waits for it.
template <class Kernel>
void load(Kernel kernel) {
  cudaFuncAttributes unused{};
  BENCH_CHECK(cudaFuncGetAttributes(&unused, kernel));
}

}  // namespace

StartLine::StartLine(const GpuGroup& gpus) {
  const std::size_t n = static_cast<std::size_t>(gpus.size());
  flags_ = pinned((n * n + n) * kApart);
  for (int gpu = 0; gpu < gpus.size(); ++gpu) {
    const OnDevice here(gpus.device(gpu));
    load(start_kernel);
  }
}

StartLine::~StartLine() { cudaFreeHost(flags_); }

void StartLine::wait(const GpuGroup& gpus) {
  for (int gpu = 0; gpu < gpus.size(); ++gpu) {
    const OnDevice here(gpus.device(gpu));
    start_kernel<<<1, 32, 0, gpus.stream(gpu)>>>(flags_, gpu, gpus.size());
    BENCH_CHECK_LAUNCH();
  }
}

Gate::Gate(const GpuGroup& gpus) : open_(pinned(kApart)) {
  for (int gpu = 0; gpu < gpus.size(); ++gpu) {
    const OnDevice here(gpus.device(gpu));
    load(gate_kernel);
  }
}

Gate::~Gate() {
  release();
  cudaDeviceSynchronize();
  cudaFreeHost(open_);
}

void Gate::hold(cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(open_, round_);
  BENCH_CHECK_LAUNCH();
}

void Gate::release() { cuda::atomic_ref<std::uint32_t>(*open_).store(round_++, cuda::memory_order_release); }

}  // namespace moe::bench
