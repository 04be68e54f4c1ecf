// Gated delta net, decode. The state of one value head (128 x 128 fp32) is split over blocks by columns.
#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/linear_attention.hpp"

namespace moe::bench {
namespace {

constexpr int kThreads = 256, kWidth = 4, kDim = 128, kColumns = 32;

__global__ void conv_update(const bf16* __restrict__ x, const bf16* __restrict__ weight, bf16* state,
                            bf16* __restrict__ y, int channels, long items) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= items) return;
  const uint2 old = *reinterpret_cast<const uint2*>(state + i * kWidth);
  const std::uint32_t newest = *reinterpret_cast<const unsigned short*>(x + i);
  const uint2 now{old.x >> 16 | old.y << 16, old.y >> 16 | newest << 16};
  *reinterpret_cast<uint2*>(state + i * kWidth) = now;
  const uint2 w = *reinterpret_cast<const uint2*>(weight + i % channels * kWidth);
  const auto low = [](std::uint32_t v) { return __uint_as_float(v << 16); };
  const auto high = [](std::uint32_t v) { return __uint_as_float(v & 0xffff0000u); };
  const float sum = low(now.x) * low(w.x) + high(now.x) * high(w.x) + low(now.y) * low(w.y) + high(now.y) * high(w.y);
  y[i] = __float2bfloat16(sum / (1 + __expf(-sum)));
}

/// Block: kColumns columns of one head; thread (row group, column): 16 rows of one column, in registers.
__global__ void delta_update(const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                             const float* __restrict__ g, const float* __restrict__ beta, float* state,
                             bf16* __restrict__ y, int k_heads, int v_heads) {
  constexpr int kGroups = kThreads / kColumns, kRows = kDim / kGroups;
  __shared__ float keys[kDim], queries[kDim], partial[kGroups][kColumns];
  const int head = static_cast<int>(blockIdx.y) % v_heads, row = static_cast<int>(blockIdx.y) / v_heads;
  const int column = static_cast<int>(blockIdx.x) * kColumns + static_cast<int>(threadIdx.x) % kColumns;
  const int group = static_cast<int>(threadIdx.x) / kColumns, local = static_cast<int>(threadIdx.x) % kColumns;
  const long key = (static_cast<long>(row) * k_heads + head * k_heads / v_heads) * kDim;
  const long value = static_cast<long>(blockIdx.y) * kDim;
  if (threadIdx.x < kDim) {
    keys[threadIdx.x] = __bfloat162float(k[key + threadIdx.x]);
    queries[threadIdx.x] = __bfloat162float(q[key + threadIdx.x]);
  }
  float* s = state + (value + group * kRows) * kDim + column;
  const float decay = __expf(g[blockIdx.y]);
  float cells[kRows];
  for (int r = 0; r < kRows; ++r) cells[r] = s[static_cast<long>(r) * kDim] * decay;
  __syncthreads();
  const auto dot = [&](const float* with) {  // over all rows of this column
    float sum = 0;
    for (int r = 0; r < kRows; ++r) sum += cells[r] * with[group * kRows + r];
    __syncthreads();
    partial[group][local] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < kGroups; ++i) sum += partial[i][local];
    return sum;
  };
  const float change = beta[blockIdx.y] * (__bfloat162float(v[value + column]) - dot(keys));
  for (int r = 0; r < kRows; ++r) {
    cells[r] += keys[group * kRows + r] * change;
    s[static_cast<long>(r) * kDim] = cells[r];
  }
  const float out = dot(queries);
  if (group == 0) y[value + column] = __float2bfloat16(out);
}

}  // namespace

void launch_conv_update(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* state, bf16* y, int rows,
                        int channels) {
  const long items = static_cast<long>(rows) * channels;
  conv_update<<<static_cast<unsigned>((items + kThreads - 1) / kThreads), kThreads, 0, stream>>>(x, weight, state, y,
                                                                                              channels, items);
  BENCH_CHECK_LAUNCH();
}

void launch_delta_update(cudaStream_t stream, const DeltaShape& s, const bf16* q, const bf16* k, const bf16* v,
                         const float* g, const float* beta, float* state, bf16* y) {
  const dim3 grid(kDim / kColumns, static_cast<unsigned>(s.rows * s.v_heads));
  delta_update<<<grid, kThreads, 0, stream>>>(q, k, v, g, beta, state, y, s.k_heads, s.v_heads);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
