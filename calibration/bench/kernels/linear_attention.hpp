// Gated delta net, decode: the two kernels that move its state.
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

/// Depthwise causal convolution of width 4 with a rolling state: state [rows][channels][4] (bf16) moves by one,
/// y = silu(sum state x weight). x, y [rows][channels].
void launch_conv_update(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* state, bf16* y, int rows,
                        int channels);

/// S = exp(g) S + beta k (v - k^T exp(g) S)^T; y = q^T S, per value head. state fp32 [rows][v_heads][dk][dv], q, k
/// [rows][k_heads][dk], v, y [rows][v_heads][dv], g, beta fp32 [rows][v_heads]. dk = dv = 128.
struct DeltaShape {
  int rows = 0, k_heads = 0, v_heads = 0;
};
void launch_delta_update(cudaStream_t stream, const DeltaShape& shape, const bf16* q, const bf16* k, const bf16* v,
                         const float* g, const float* beta, float* state, bf16* y);

}  // namespace moe::bench
