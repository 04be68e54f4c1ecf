// Splitting cached tokens over blocks, and putting the parts together. A part is the output of its tokens divided by
// its own sum, and the logarithm of that sum (base 2) with the maximum: lse = max + log2(sum).
#pragma once
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"

namespace moe::bench {

constexpr int kMostSplits = 64, kChunkStep = 64;

/// Tokens of one part: whole steps of kChunkStep.
inline int chunk_of(int context, int splits) {
  return ((context + splits - 1) / splits + kChunkStep - 1) / kChunkStep * kChunkStep;
}

/// Parts per tile that end soonest: waves of blocks times the tokens of a block, where starting a block costs as much
/// as start_tokens. The fewest among equals.
inline int splits_for(long tiles, int context, int blocks_per_sm, int start_tokens) {
  const long slots = static_cast<long>(blocks_per_sm) * device_facts().sm;
  int best = 1;
  long least = -1;
  for (int s = 1; s <= std::min(kMostSplits, (context + kChunkStep - 1) / kChunkStep); ++s) {
    const long waves = (tiles * s + slots - 1) / slots, cost = waves * (chunk_of(context, s) + start_tokens);
    if (least >= 0 && cost >= least) continue;
    least = cost;
    best = s;
  }
  return best;
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
