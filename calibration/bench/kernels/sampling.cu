// Sampling over the vocabulary: argmax, or a draw from the softmax as the argmax of logits with Gumbel noise.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr int kThreads = 256;

/// Orders as floats do, larger index last: ties go to the smaller index.
__device__ unsigned long long ordered(float v, int index) {
  const std::uint32_t bits = __float_as_uint(v);
  const std::uint32_t key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(key) << 32 | (0xffffffffu - static_cast<std::uint32_t>(index));
}

__device__ float gumbel(std::uint64_t seed, int row, int index) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(index));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  const float u = (static_cast<float>((x >> 40) & 0xffffff) + 0.5f) * (1.0f / 16777216);
  return -__logf(-__logf(u));
}

/// Scratch of a row: the best so far, and how many blocks have finished. The last block writes the id and leaves
/// zeros for the next launch.
struct RowState {
  unsigned long long best;
  unsigned int done, unused;
};

__global__ void sample(const float* __restrict__ logits, int vocab, float inverse_temperature, std::uint64_t seed,
                       int* __restrict__ ids, RowState* state) {
  __shared__ unsigned long long shared[kThreads / 32];
  const int row = static_cast<int>(blockIdx.y);
  const float* x = logits + static_cast<long>(row) * vocab;
  unsigned long long best = 0;
  const int step = static_cast<int>(gridDim.x * blockDim.x) * 4;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vocab; i += step) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const float values[4] = {v.x, v.y, v.z, v.w};
    for (int j = 0; j < 4; ++j) {
      const float noisy =
          inverse_temperature > 0 ? values[j] * inverse_temperature + gumbel(seed, row, i + j) : values[j];
      best = max(best, ordered(noisy, i + j));
    }
  }
  for (int d = 16; d > 0; d >>= 1) best = max(best, __shfl_xor_sync(kAllLanes, best, d));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kThreads / 32; ++w) best = max(best, shared[w]);
  atomicMax(&state[row].best, best);
  __threadfence();
  if (atomicAdd(&state[row].done, 1u) + 1 < gridDim.x) return;
  __threadfence();
  const unsigned long long winner = atomicExch(&state[row].best, 0ULL);
  ids[row] = static_cast<int>(0xffffffffu - static_cast<std::uint32_t>(winner));
  state[row].done = 0;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int vocab) {
  __shared__ float scratch[33];
  const long row = static_cast<long>(blockIdx.x) * vocab;
  const int step = static_cast<int>(blockDim.x) * 4;
  float most = -INFINITY, sum = 0;
  for (int i = static_cast<int>(threadIdx.x) * 4; i < vocab; i += step) {
    const float4 v = *reinterpret_cast<const float4*>(x + row + i);
    const float here = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), now = fmaxf(most, here);
    sum = sum * __expf(most - now) + __expf(v.x - now) + __expf(v.y - now) + __expf(v.z - now) + __expf(v.w - now);
    most = now;
  }
  const float top = block_reduce(most, scratch, Max{}, -INFINITY);
  const float inverse = 1 / block_reduce(most == -INFINITY ? 0.0f : sum * __expf(most - top), scratch, Sum{}, 0.0f);
  for (int i = static_cast<int>(threadIdx.x) * 4; i < vocab; i += step) {
    const float4 v = *reinterpret_cast<const float4*>(x + row + i);
    *reinterpret_cast<float4*>(y + row + i) = {__expf(v.x - top) * inverse, __expf(v.y - top) * inverse,
                                               __expf(v.z - top) * inverse, __expf(v.w - top) * inverse};
  }
}

}  // namespace

std::size_t sampling_workspace_bytes(int rows) { return static_cast<std::size_t>(rows) * sizeof(RowState); }

void launch_sample(cudaStream_t stream, const float* logits, int rows, int vocab, float temperature,
                   std::uint64_t seed, int* ids, void* workspace) {
  const int wanted = std::max(1, 4 * device_facts().sm / rows), most = (vocab + 4 * kThreads - 1) / (4 * kThreads);
  const dim3 grid(static_cast<unsigned>(std::min(wanted, most)), static_cast<unsigned>(rows));
  sample<<<grid, kThreads, 0, stream>>>(logits, vocab, temperature > 0 ? 1 / temperature : 0.0f, seed, ids,
                                        static_cast<RowState*>(workspace));
  BENCH_CHECK_LAUNCH();
}

void launch_softmax(cudaStream_t stream, const float* x, float* y, int rows, int vocab) {
  softmax<<<rows, 1024, 0, stream>>>(x, y, vocab);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
