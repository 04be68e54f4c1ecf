// Device code of our own all-reduce: flags between GPUs, and sums over peer-mapped memory.
//
// Every block of every rank handles the same elements, so blocks with one number meet: block b of a rank waits for block
// b of the others only. A flag holds the number of the meeting; it only grows, so it never needs clearing, and a
// captured graph can be launched again and again.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>

#include "comm/flags.cuh"

namespace moe::bench {

constexpr int kMostRanks = 16, kMostBlocks = 64, kThreads = 512;

/// What a rank's GPU holds for the others to write: arrived[b][r] is the last meeting of block b that rank r reached.
struct Signal {
  std::uint32_t arrived[kMostBlocks][kMostRanks];
  std::uint32_t meetings[kMostBlocks];  ///< of block b so far; only its own GPU touches it
};

struct Peers {
  const uint4* in[kMostRanks];
  uint4* scratch[kMostRanks];   ///< two-shot: where rank r leaves its slice of the sum
  Signal* signal[kMostRanks];
  int rank, ranks;
};

/// No thread of block b on any rank passes before all of them have come; what they wrote before is then seen.
__device__ inline void meet(const Peers& p, std::uint32_t number) {
  __syncthreads();
  if (threadIdx.x < static_cast<unsigned>(p.ranks)) {
    const unsigned other = threadIdx.x;
    Flag(p.signal[other]->arrived[blockIdx.x][p.rank]).store(number, cuda::memory_order_release);
    wait_for(&p.signal[p.rank]->arrived[blockIdx.x][other], number);
  }
  __syncthreads();
}

template <class T>
__device__ inline float as_float(T x) { return static_cast<float>(x); }
template <class T>
__device__ inline T rounded(float x) { return static_cast<T>(x); }
template <>
__device__ inline __nv_bfloat16 rounded(float x) { return __float2bfloat16_rn(x); }
template <>
__device__ inline __half rounded(float x) { return __float2half_rn(x); }

/// Sum of one 16-byte vector over all ranks, always in the order of the ranks: every rank gets the same bits.
template <class T>
__device__ inline uint4 sum_at(const Peers& p, std::size_t i) {
  constexpr int kValues = sizeof(uint4) / sizeof(T);
  float sum[kValues] = {};
  uint4 raw[kMostRanks];
#pragma unroll
  for (int r = 0; r < kMostRanks; ++r)
    if (r < p.ranks) raw[r] = p.in[r][i];
#pragma unroll
  for (int r = 0; r < kMostRanks; ++r)
    if (r < p.ranks) {
      const T* values = reinterpret_cast<const T*>(&raw[r]);
#pragma unroll
      for (int v = 0; v < kValues; ++v) sum[v] += as_float(values[v]);
    }
  uint4 result;
  T* values = reinterpret_cast<T*>(&result);
#pragma unroll
  for (int v = 0; v < kValues; ++v) values[v] = rounded<T>(sum[v]);
  return result;
}

__device__ inline std::uint32_t meetings_so_far(const Peers& p) { return p.signal[p.rank]->meetings[blockIdx.x]; }

__device__ inline void remember_meetings(const Peers& p, std::uint32_t number) {
  __syncthreads();
  if (threadIdx.x == 0) p.signal[p.rank]->meetings[blockIdx.x] = number;
}

/// One-shot: meet (all inputs are there), read all of them, meet (all have read).
template <class T>
__global__ void __launch_bounds__(kThreads) one_shot_kernel(const __grid_constant__ Peers p, uint4* out, std::size_t vectors) {
  const std::uint32_t before = meetings_so_far(p);
  meet(p, before + 1);
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < vectors; i += stride)
    out[i] = sum_at<T>(p, i);
  meet(p, before + 2);
  remember_meetings(p, before + 2);
}

/// Two-shot: meet, sum the own slice into scratch, meet, read every slice from its owner. Element i of a slice is
/// handled by the same block on every rank. No third meeting: who starts the next collective has read everything.
template <class T>
__global__ void __launch_bounds__(kThreads) two_shot_kernel(const __grid_constant__ Peers p, uint4* out, std::size_t vectors) {
  const std::uint32_t before = meetings_so_far(p);
  const std::size_t slice = (vectors + p.ranks - 1) / p.ranks, stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  meet(p, before + 1);
  for (std::size_t i = first; i < slice && p.rank * slice + i < vectors; i += stride)
    p.scratch[p.rank][i] = sum_at<T>(p, p.rank * slice + i);
  meet(p, before + 2);
  for (std::size_t i = first; i < slice; i += stride)
    for (int k = 0; k < p.ranks; ++k) {
      const int owner = (p.rank + k) % p.ranks;  // not all ranks read from the same one
      if (owner * slice + i < vectors) out[owner * slice + i] = p.scratch[owner][i];
    }
  remember_meetings(p, before + 2);
}

}  // namespace moe::bench
