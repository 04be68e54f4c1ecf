// A kernel that does nothing, and one that only reads.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr int kThreads = 512, kAtOnce = 4;

__global__ void empty() {}

__global__ void read(const uint4* __restrict__ x, long chunks, unsigned* sink) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  unsigned folded = 0;
  long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + (kAtOnce - 1) * step < chunks; i += kAtOnce * step) {
    uint4 v[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) v[j] = __ldcg(x + i + j * step);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) folded ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  for (; i < chunks; i += step) {
    const uint4 v = __ldcg(x + i);
    folded ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (folded == 0x12345678u) *sink = folded;  // once in four billion threads: the loads must happen
}

}  // namespace

void launch_empty(cudaStream_t stream) {
  empty<<<1, 32, 0, stream>>>();
  BENCH_CHECK_LAUNCH();
}

void launch_read(cudaStream_t stream, const void* x, std::size_t bytes, unsigned* sink) {
  const long chunks = static_cast<long>(bytes / 16);
  const long blocks = std::clamp<long>((chunks + kThreads - 1) / kThreads, 1, 4L * device_facts().sm);
  read<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<const uint4*>(x), chunks, sink);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
