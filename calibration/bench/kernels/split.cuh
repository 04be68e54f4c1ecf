// Splitting cached tokens over blocks, and putting the parts together. A part is the output of its tokens divided by
// its own sum, and the logarithm of that sum (base 2) with the maximum: lse = max + log2(sum).
#pragma once
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"

namespace moe::bench {

constexpr int kMostSplits = 64, kLeastChunk = 64;

/// Parts per tile: enough blocks for the machine, none shorter than kLeastChunk tokens.
inline int splits_for(long tiles, int context, int blocks_per_sm) {
  const long slots = static_cast<long>(blocks_per_sm) * device_facts().sm;
  const long wanted = std::clamp<long>((slots + tiles - 1) / tiles, 1, kMostSplits);
  return static_cast<int>(std::clamp<long>(wanted, 1, (context + kLeastChunk - 1) / kLeastChunk));
}

/// rows x splits parts: values [row][split][dim] fp32, lse [row][split].
template <int kDim>
__global__ void merge_parts(const float* __restrict__ values, const float* __restrict__ lse, int splits,
                            bf16* __restrict__ y) {
  const long row = blockIdx.x;
  const float* parts = lse + row * splits;
  float top = -INFINITY, sum = 0;
  for (int s = 0; s < splits; ++s) top = fmaxf(top, parts[s]);
  const int at = static_cast<int>(threadIdx.x) * 2;
  float2 out{0, 0};
#pragma unroll 4
  for (int s = 0; s < splits; ++s) {
    const float share = exp2f(parts[s] - top);
    const float2 v = *reinterpret_cast<const float2*>(values + (row * splits + s) * kDim + at);
    out.x += share * v.x;
    out.y += share * v.y;
    sum += share;
  }
  *reinterpret_cast<std::uint32_t*>(y + row * kDim + at) = pack_bf16(out.x / sum, out.y / sum);
}

}  // namespace moe::bench
