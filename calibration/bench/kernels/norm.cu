// RMS norms: one block per row, the row stays in registers between its two uses.
#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr float kEpsilon = 1e-6f;
constexpr int kMostChunks = 4;  // of 8 values per thread: 32768 columns in 1024 threads

template <bool kAdd>
__global__ void norm_rows(const bf16* __restrict__ x, bf16* residual, const bf16* __restrict__ weight, bf16* y,
                          int cols) {
  __shared__ float scratch[33];
  const long row = static_cast<long>(blockIdx.x) * cols;
  float v[kMostChunks][8];
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kMostChunks; ++c) {
    const int at = static_cast<int>(threadIdx.x + c * blockDim.x) * 8;
    if (at >= cols) break;
    load8(x + row + at, v[c]);
    if (kAdd) {
      float r[8];
      load8(residual + row + at, r);
      for (int i = 0; i < 8; ++i) v[c][i] += r[i];
      store8(residual + row + at, v[c]);
    }
    for (int i = 0; i < 8; ++i) sum += v[c][i] * v[c][i];
  }
  const float scale = rsqrtf(block_reduce(sum, scratch, Sum{}, 0.0f) / static_cast<float>(cols) + kEpsilon);
#pragma unroll
  for (int c = 0; c < kMostChunks; ++c) {
    const int at = static_cast<int>(threadIdx.x + c * blockDim.x) * 8;
    if (at >= cols) break;
    float w[8];
    load8(weight + at, w);
    for (int i = 0; i < 8; ++i) w[i] *= v[c][i] * scale;
    store8(y + row + at, w);
  }
}

int threads_for(int cols) {
  const int wanted = (cols / 8 + 31) / 32 * 32;
  return wanted < 32 ? 32 : wanted > 1024 ? 1024 : wanted;
}

}  // namespace

void launch_rmsnorm(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* y, int rows, int cols) {
  norm_rows<false><<<rows, threads_for(cols), 0, stream>>>(x, nullptr, weight, y, cols);
  BENCH_CHECK_LAUNCH();
}

void launch_add_rmsnorm(cudaStream_t stream, const bf16* x, bf16* residual, const bf16* weight, bf16* y, int rows,
                        int cols) {
  norm_rows<true><<<rows, threads_for(cols), 0, stream>>>(x, residual, weight, y, cols);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
