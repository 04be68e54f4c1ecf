#include "comm/probes.hpp"

#include "comm/flags.cuh"
#include "harness/check.hpp"
#include "harness/timing.hpp"

namespace moe::bench {
namespace {

__global__ void ping_kernel(std::uint32_t* mine, std::uint32_t* theirs, int rounds, bool first, long long* ns) {
  long long from = 0, to = 0;
  for (int i = 1; i <= rounds; ++i) {
    const std::uint32_t number = static_cast<std::uint32_t>(i);
    if (i == 2) asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));  // round 1: both have started
    if (first) Flag(*theirs).store(number, cuda::memory_order_relaxed);
    std::uint32_t polls = 0;
    while (Flag(*mine).load(cuda::memory_order_relaxed) < number)
      if (++polls == kMostPolls) __trap();
    if (!first) Flag(*theirs).store(number, cuda::memory_order_relaxed);
  }
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(to));
  *ns = to - from;
}

/// chain[i] = index of the next element: steps of 257 lines of 128 bytes, so that no line is loaded twice in a row.
__global__ void link_kernel(std::uint32_t* chain, std::uint32_t elements) {
  constexpr std::uint32_t kLine = 32;
  for (std::uint32_t i = threadIdx.x * kLine; i < elements; i += blockDim.x * kLine)
    chain[i] = (i + 257 * kLine) % elements;
}

__global__ void chase_kernel(const std::uint32_t* chain, int hops, std::uint32_t* last) {
  std::uint32_t at = 0;
  for (int i = 0; i < hops; ++i) at = *const_cast<const volatile std::uint32_t*>(chain + at);
  *last = at;
}

__global__ void __launch_bounds__(512) copy_kernel(const uint4* from, uint4* to, std::size_t vectors) {
  constexpr int kInFlight = 4;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  for (; i + (kInFlight - 1) * stride < vectors; i += kInFlight * stride) {
    uint4 v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) v[k] = from[i + k * stride];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) to[i + k * stride] = v[k];
  }
  for (; i < vectors; i += stride) to[i] = from[i];
}

}  // namespace

double load_latency_ns(cudaStream_t stream, void* chain, std::size_t bytes, int hops) {
  auto* words = static_cast<std::uint32_t*>(chain);
  link_kernel<<<1, 512, 0, stream>>>(words, static_cast<std::uint32_t>(bytes / sizeof(std::uint32_t)));
  BENCH_CHECK_LAUNCH();
  void* last = nullptr;
  BENCH_CHECK(cudaMalloc(&last, sizeof(std::uint32_t)));
  const auto chase = [&](int loads) {
    return time_graph(stream, 1, 1, [&](cudaStream_t s, int) {
             chase_kernel<<<1, 1, 0, s>>>(words, loads, static_cast<std::uint32_t*>(last));
             BENCH_CHECK_LAUNCH();
           }).us;
  };
  const double ns = 1e3 * (chase(2 * hops) - chase(hops)) / hops;  // the launch cancels
  BENCH_CHECK(cudaFree(last));
  return ns;
}

double ping_ns(const GpuGroup& gpus, int a, int b, void* flag_a, void* flag_b, int rounds) {
  void* host = nullptr;
  BENCH_CHECK(cudaHostAlloc(&host, 2 * sizeof(long long), cudaHostAllocPortable | cudaHostAllocMapped));
  auto* ns = static_cast<long long*>(host);
  for (const int gpu : {a, b}) {  // a first launch must not wait for work that waits for it
    const OnDevice here(gpus.device(gpu));
    cudaFuncAttributes unused{};
    BENCH_CHECK(cudaFuncGetAttributes(&unused, ping_kernel));
  }
  auto *at_a = static_cast<std::uint32_t*>(flag_a), *at_b = static_cast<std::uint32_t*>(flag_b);
  {
    const OnDevice here(gpus.device(a));
    ping_kernel<<<1, 1, 0, gpus.stream(a)>>>(at_a, at_b, rounds, true, ns);
    BENCH_CHECK_LAUNCH();
  }
  {
    const OnDevice here(gpus.device(b));
    ping_kernel<<<1, 1, 0, gpus.stream(b)>>>(at_b, at_a, rounds, false, ns + 1);
    BENCH_CHECK_LAUNCH();
  }
  gpus.synchronise();
  const double half_trip = static_cast<double>(ns[0]) / (2.0 * (rounds - 1));
  BENCH_CHECK(cudaFreeHost(ns));
  return half_trip;
}

void copy_by_sm(cudaStream_t stream, const void* from, void* to, std::size_t bytes) {
  const int blocks = 2 * device_facts().sm;
  copy_kernel<<<blocks, 512, 0, stream>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / sizeof(uint4));
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
