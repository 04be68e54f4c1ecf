// Quantising activations: e4m3 with a given scale, with a scale per row, after the activation; e2m1 in blocks of 16.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr int kThreads = 256;
constexpr float kMostE4m3 = 448, kMostE2m1 = 6;
constexpr int kMostChunks = 4;

__global__ void quantise(const bf16* __restrict__ x, float inverse, fp8_bits* __restrict__ y, long chunks) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < chunks; i += step) {
    float v[8];
    load8(x + 8 * i, v);
    for (int j = 0; j < 8; ++j) v[j] *= inverse;
    store8_e4m3(y + 8 * i, v);
  }
}

/// kGated: v = silu(gate) up of a row of 2 cols. row_count: rows that there are, null: all of the grid.
template <bool kGated>
__global__ void quantise_rows(const bf16* __restrict__ x, fp8_bits* __restrict__ y, float* __restrict__ scales,
                              int cols, const int* row_count) {
  __shared__ float scratch[33];
  if (row_count != nullptr && static_cast<int>(blockIdx.x) >= *row_count) return;
  const long row = blockIdx.x;
  const bf16* from = x + row * cols * (kGated ? 2 : 1);
  float v[kMostChunks][8];
  float most = 0;
#pragma unroll
  for (int c = 0; c < kMostChunks; ++c) {
    const int at = static_cast<int>(threadIdx.x + c * blockDim.x) * 8;
    if (at >= cols) break;
    load8(from + at, v[c]);
    if (kGated) {
      float up[8];
      load8(from + cols + at, up);
      for (int j = 0; j < 8; ++j) v[c][j] = up[j] * v[c][j] / (1 + __expf(-v[c][j]));
    }
    for (int j = 0; j < 8; ++j) most = fmaxf(most, fabsf(v[c][j]));
  }
  most = fmaxf(block_reduce(most, scratch, Max{}, 0.0f), 1e-12f);
  const float inverse = kMostE4m3 / most;
  if (threadIdx.x == 0) scales[row] = most / kMostE4m3;
#pragma unroll
  for (int c = 0; c < kMostChunks; ++c) {
    const int at = static_cast<int>(threadIdx.x + c * blockDim.x) * 8;
    if (at >= cols) break;
    for (int j = 0; j < 8; ++j) v[c][j] *= inverse;
    store8_e4m3(y + row * cols + at, v[c]);
  }
}

/// Nearest e2m1 (0, 0.5, 1, 1.5, 2, 3, 4, 6), ties away from zero, sign in bit 3.
__device__ std::uint32_t e2m1(float v) {
  const float a = fabsf(v);
  const std::uint32_t code = (a >= 0.25f) + (a >= 0.75f) + (a >= 1.25f) + (a >= 1.75f) + (a >= 2.5f) + (a >= 3.5f) +
                             (a >= 5.0f);
  return code | (v < 0 ? 8u : 0u);
}

/// Place of the scale of block `block` of a row in cuBLASLt's order: tiles of 128 rows x 4 scales, in a tile 32 rows
/// of 16 bytes, rows r, r+32, r+64, r+96 side by side (cuBLAS documentation, 1D block scaling).
__device__ long tiled_place(long row, int block, int blocks_per_row) {
  const long tile = row / 128 * ((blocks_per_row + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

/// One thread per block of 16.
__global__ void quantise_nvfp4(const bf16* __restrict__ x, std::uint8_t* __restrict__ y,
                               std::uint8_t* __restrict__ scales, int cols, long blocks) {
  const int per_row = cols / 16;
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < blocks; i += step) {
    float v[16], most = 0;
    load8(x + 16 * i, v);
    load8(x + 16 * i + 8, v + 8);
    for (int j = 0; j < 16; ++j) most = fmaxf(most, fabsf(v[j]));
    const __nv_fp8_e4m3 scale(fmaxf(most / kMostE2m1, 0x1p-9f));
    const float inverse = 1 / static_cast<float>(scale);
    std::uint32_t words[2] = {};
    for (int j = 0; j < 16; ++j) words[j / 8] |= e2m1(v[j] * inverse) << (4 * (j % 8));
    reinterpret_cast<uint2*>(y)[i] = {words[0], words[1]};
    scales[tiled_place(i / per_row, static_cast<int>(i % per_row), per_row)] = scale.__x;
  }
}

int blocks_for(long items) {
  return static_cast<int>(std::clamp<long>((items + kThreads - 1) / kThreads, 1, 16L * device_facts().sm));
}
int row_threads(int cols) { return std::clamp((cols / 8 + 31) / 32 * 32, 32, 1024); }

}  // namespace

void launch_quantise(cudaStream_t stream, const bf16* x, float scale, fp8_bits* y, long elements) {
  quantise<<<blocks_for(elements / 8), kThreads, 0, stream>>>(x, 1 / scale, y, elements / 8);
  BENCH_CHECK_LAUNCH();
}

void launch_quantise_rows(cudaStream_t stream, const bf16* x, fp8_bits* y, float* scales, int rows, int cols) {
  quantise_rows<false><<<rows, row_threads(cols), 0, stream>>>(x, y, scales, cols, nullptr);
  BENCH_CHECK_LAUNCH();
}

void launch_silu_mul_quantise(cudaStream_t stream, const bf16* x, fp8_bits* y, float* scales, int rows, int cols,
                              const int* row_count) {
  quantise_rows<true><<<rows, row_threads(cols), 0, stream>>>(x, y, scales, cols, row_count);
  BENCH_CHECK_LAUNCH();
}

std::size_t nvfp4_scale_bytes(int rows, int cols) {
  return static_cast<std::size_t>((rows + 127) / 128) * static_cast<std::size_t>((cols / 16 + 3) / 4) * 512;
}

void launch_quantise_nvfp4(cudaStream_t stream, const bf16* x, std::uint8_t* y, std::uint8_t* scales, int rows,
                           int cols) {
  const long blocks = static_cast<long>(rows) * cols / 16;
  quantise_nvfp4<<<blocks_for(blocks), kThreads, 0, stream>>>(x, y, scales, cols, blocks);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
