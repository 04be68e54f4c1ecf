// The routed experts of one layer on one GPU: top-k, sort by expert, (quantise), w1 and w3, activation, w2, combine.
//
//   ExpertShape s{.tokens = 8, .hidden = 7168, .intermediate = 256, .topk = 8, .experts = 384, .local_experts = 384};
//   launch_experts(stream, Format::int4, s, x, logits, weights, y, workspace);
//
// hidden and intermediate are multiples of 64; intermediate is this GPU's share. Rows of experts that live elsewhere
// are left out; a token without a local expert gets zeros. Weights are packed (kernels/pack.hpp): random bytes of the
// right kind will do where only time matters. bf16 and fp8 and int4; nvfp4 throws Unsupported.
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

struct ExpertShape {
  int tokens = 0, hidden = 0, intermediate = 0, topk = 0;
  int experts = 0;        ///< of the layer, at most 512
  int local_experts = 0;  ///< on this GPU, from first_expert
  int first_expert = 0;
};

/// Packed weights of all local experts, one after the other. fp8: one fp32 scale per expert; int4: scales inside.
struct ExpertWeights {
  const void* w13 = nullptr;  ///< [local][2 intermediate][hidden]: gate rows first
  const void* w2 = nullptr;   ///< [local][hidden][intermediate]
  const float* scale13 = nullptr;
  const float* scale2 = nullptr;
};
std::size_t w13_bytes(Format format, const ExpertShape& shape);
std::size_t w2_bytes(Format format, const ExpertShape& shape);

std::size_t experts_workspace_bytes(Format format, const ExpertShape& shape);

/// x [tokens][hidden], logits [tokens][experts] fp32, y [tokens][hidden].
void launch_experts(cudaStream_t stream, Format format, const ExpertShape& shape, const bf16* x, const float* logits,
                    const ExpertWeights& weights, bf16* y, void* workspace);

/// The stages of launch_experts in order, for timing them apart: 0 top-k, 1 sort, 2 quantise x (fp8 only),
/// 3 first GEMM, 4 activation, 5 second GEMM, 6 combine. Others do nothing.
inline constexpr int kExpertStages = 7;
extern const char* const kExpertStageNames[kExpertStages];
void launch_expert_stage(int stage, cudaStream_t stream, Format format, const ExpertShape& shape, const bf16* x,
                         const float* logits, const ExpertWeights& weights, bf16* y, void* workspace);

}  // namespace moe::bench
