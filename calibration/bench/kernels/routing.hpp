// Which rows go to which expert? Top-k of the router's logits, and rows sorted by expert for the grouped GEMM.
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

/// ids and weights [tokens][topk]: the largest logits, softmax over the chosen ones. experts <= 512, topk <= 32.
void launch_topk(cudaStream_t stream, const float* logits, int tokens, int experts, int topk, int* ids, float* weights);

/// Logits whose top-k is what `choices` [tokens][topk] says: 4 to 5 for the chosen experts, 0 to 1 for the others.
void launch_logits(cudaStream_t stream, const int* choices, int tokens, int experts, int topk, float* logits);

/// Rows sorted by local expert. A tile is up to tile_rows rows of one expert.
struct SortedRows {
  int* count;          ///< [0] rows, [1] tiles
  int* row_of;         ///< [tokens topk]: place of the choice among the sorted rows, -1: not local
  int* token_of;       ///< [tokens topk]: token of a sorted row
  int* tile_expert;    ///< [max_tiles]: local expert
  int* tile_row;       ///< [max_tiles]: first row
  int* tile_rows;      ///< [max_tiles]
};
/// Upper bound of the number of tiles, whatever the router says.
int max_tiles(int tokens, int topk, int local_experts, int tile_rows);
void launch_sort_rows(cudaStream_t stream, const int* ids, int tokens, int topk, int first_expert, int local_experts,
                      int tile_rows, const SortedRows& out);

/// Places of a rank's rows by destination rank (all-to-all of tokens): counts [ranks] and rows gathered by rank.
/// y[row_of(i)] = x[i / topk] for every choice i.
void launch_permute(cudaStream_t stream, const bf16* x, const int* row_of, int tokens, int topk, int hidden, bf16* y);
/// y[t] = sum over choices of weights[t][j] x[row_of[t][j]].
void launch_combine(cudaStream_t stream, const bf16* x, const int* row_of, const float* weights, int tokens, int topk,
                    int hidden, bf16* y);

}  // namespace moe::bench
