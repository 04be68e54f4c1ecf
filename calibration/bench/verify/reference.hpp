// What the kernels should compute, the simple way: one thread per output value, fp32, no sharing. For checks only.
#pragma once
#include "kernels/experts.hpp"
#include "kernels/linear_attention.hpp"

namespace moe::bench::reference {

/// How a plain weight matrix is stored: as launch_pack's source.
struct Matrix {
  Format format = Format::bf16;
  const void* values = nullptr;     ///< bf16, e4m3, or one byte per int4 value
  const bf16* scales = nullptr;     ///< int4: [experts][n][k / 32]
  float scale = 1;                  ///< of every value (fp8 dense)
  const float* expert_scale = nullptr;  ///< fp8 experts
};

/// y[m][n] = sum x[m][k] w[n][k]; x_scale per row when x is e4m3, null: x is bf16 (quantised to e4m3 with
/// x_quantum > 0 first). Strides count elements, for batches.
void gemm(cudaStream_t stream, const bf16* x, const Matrix& w, bf16* y, int m, int n, int k, float x_quantum = 0);
/// Per-head products of absorbed MLA: y[t][h][n] = sum x[t][h][k] w[h][n][k].
void per_head(cudaStream_t stream, const bf16* x, const bf16* w, bf16* y, int tokens, int heads, int n, int k);

/// The routed experts, from logits to combined rows, on plain weights. fp8 quantises rows as the kernel does.
/// Scratch: tokens x topk x (3 intermediate + hidden + 2) floats.
void experts(cudaStream_t stream, const ExpertShape& shape, const bf16* x, const float* logits, const Matrix& w13,
             const Matrix& w2, bf16* y, float* scratch);

/// Softmax attention of one query row per thread block. k and v rows of `stride` elements; row r of a sequence reads
/// KV head (r % heads) / (heads / kv_heads). scores: rows x context floats.
struct Attention {
  int sequences, context, heads, kv_heads, queries;
  int score_dim, value_dim;
  long token_stride, head_stride, sequence_stride;  ///< of both caches, elements
  float scale;
};
void attention(cudaStream_t stream, const Attention& a, const bf16* q, const bf16* k, const bf16* v, bf16* y,
               float* scores);

void rmsnorm(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* y, int rows, int cols);
void softmax(cudaStream_t stream, const float* x, float* y, int rows, int vocab);
void argmax(cudaStream_t stream, const float* x, int* ids, int rows, int vocab);
void delta_update(cudaStream_t stream, const DeltaShape& shape, const bf16* q, const bf16* k, const bf16* v,
                  const float* g, const float* beta, float* state, bf16* y);

}  // namespace moe::bench::reference
