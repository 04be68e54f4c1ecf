// y[r,n] = x[row(r),k] w[expert(r)][n,k]^T for rows sorted by expert: the grouped GEMM of routed experts.
#pragma once
#include "kernels/routing.hpp"

namespace moe::bench {

struct GroupedGemm {
  int n = 0, k = 0;             ///< multiples of 64
  int tile_rows = 16;           ///< 16, 32 or 64: of the tiles in `rows`
  int max_tiles = 0;
  int most_rows = 1 << 30;      ///< no expert has more: the number of tokens
  const int* tile_count = nullptr;
  SortedRows rows{};
  const int* gather = nullptr;  ///< row of x for a sorted row; null: the sorted row itself
};
/// Rows per tile that suit the mean number of rows per expert.
int tile_rows_for(int tokens, int topk, int experts);

/// Bytes of one expert's packed [n][k] matrix; int4 with its scales.
std::size_t packed_bytes(Format format, int n, int k);

/// x: bf16, or e4m3 with one scale per row (x_scale) for fp8. w_scale: one per expert (fp8). y: bf16.
void launch_grouped_gemm(cudaStream_t stream, Format format, const GroupedGemm& g, const void* x,
                         const float* x_scale, const void* w, const float* w_scale, bf16* y);

}  // namespace moe::bench
