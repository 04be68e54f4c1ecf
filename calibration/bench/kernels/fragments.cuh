// The order of packed weights, and one pipeline stage of the grouped GEMM: 64 steps along k for 32 columns per warp.
//
// mma.sync wants of lane (g = lane / 4, q = lane % 4) values of row or column g at k positions that depend on q. As
// both operands may be permuted along k alike, lane q takes 16 contiguous bytes of each: k = 8q..8q+7 of a block of 32
// (bf16), 16q.. of a block of 64 (fp8). Packed weights hold each lane's 16 bytes side by side, 512 bytes per warp:
//   bf16  unit (n / 8, k / 32): lane's w[8 u + g][32 b + 8q ..]
//   fp8   unit (n / 8, k / 64): lane's w[8 u + g][64 b + 16q ..]
//   int4  unit (n / 32, k / 32): word j of a lane: w[32 u + 8j + g][32 b + 8q ..], nibble i holds k 2i, nibble 4+i k 2i+1;
//         all units of 32 columns, then their scales: 128 bytes per two units, columns 8j + g of both side by side
// bf16 and fp8 go through shared memory; every lane reads only what it copied itself. int4: w4a16.cuh.
#pragma once
#include "kernels/device.cuh"

namespace moe::bench {

constexpr int kWarpColumns = 32, kStageK = 64, kUnit = 512, kScaleUnit = 64;

template <Format F>
struct Stage {
  static constexpr int kActivationBytes = F == Format::fp8 ? 1 : 2;
  static constexpr int kPieces = F == Format::fp8 ? 1 : 2;     ///< 16-byte pieces of one lane along 64 k
  static constexpr int kWeightBytes = 4 * kPieces * kUnit;     ///< of one warp
  static constexpr int kRowBytes16 = 2 * kPieces * kUnit;                  ///< activations of 16 rows
};

/// Bytes of 32 columns of a packed matrix.
template <Format F>
__host__ __device__ constexpr std::size_t column_bytes(int k) {
  const std::size_t blocks = static_cast<std::size_t>(k) / 32;
  return F == Format::bf16 ? blocks * 4 * kUnit : F == Format::fp8 ? blocks * 2 * kUnit : blocks * (kUnit + kScaleUnit);
}

/// Weights of k block `block` (64) of the 32 columns at `columns`.
template <Format F>
__device__ inline void copy_weights(std::uint32_t to, const char* columns, int k, int block, int lane) {
  constexpr int kPieces = Stage<F>::kPieces;
  const long tile = static_cast<long>(k / kStageK) * kPieces * kUnit;  // 8 columns
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int u = 0; u < kPieces; ++u)
      copy16(to + (j * kPieces + u) * kUnit + lane * 16, columns + j * tile + static_cast<long>(block * kPieces + u) * kUnit + lane * 16);
}

/// acc[m][j]: rows 16m.., columns 8j.. += one stage. rows: fragments of the activations, kRowBytes16 per 16 rows.
template <Format F, int MT>
__device__ inline void multiply(float (&acc)[MT][4][4], std::uint32_t rows, std::uint32_t weights, int lane) {
  constexpr int kPieces = Stage<F>::kPieces;
#pragma unroll
  for (int u = 0; u < kPieces; ++u) {
    uint4 low[MT], high[MT];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      const std::uint32_t at = rows + m * Stage<F>::kRowBytes16 + u * kUnit + lane * 16;
      low[m] = shared_load16(at);
      high[m] = shared_load16(at + kPieces * kUnit);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint4 w = shared_load16(weights + (j * kPieces + u) * kUnit + lane * 16);
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        if constexpr (F == Format::bf16) {
          mma_bf16(acc[m][j], low[m].x, high[m].x, low[m].y, high[m].y, w.x, w.y);
          mma_bf16(acc[m][j], low[m].z, high[m].z, low[m].w, high[m].w, w.z, w.w);
        } else {
          mma_e4m3(acc[m][j], low[m].x, high[m].x, low[m].y, high[m].y, w.x, w.y);
          mma_e4m3(acc[m][j], low[m].z, high[m].z, low[m].w, high[m].w, w.z, w.w);
        }
      }
    }
  }
}

}  // namespace moe::bench
