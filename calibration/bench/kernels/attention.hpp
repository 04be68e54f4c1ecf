// Split-KV decode attention with its reduction: grouped queries, and absorbed MLA.
//
//   GqaShape s{.sequences = 16, .context = 4096, .heads = 8, .kv_heads = 1, .head_dim = 128};
//   launch_gqa(stream, s, q, k_cache, v_cache, y, workspace);
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

/// q, y [sequences][queries][heads][head_dim]; caches [sequences][kv_heads][context][head_dim]. Query i of a sequence
/// sees all but the last queries - 1 - i tokens. head_dim 64, 128 or 256.
struct GqaShape {
  int sequences = 0, context = 0, heads = 0, kv_heads = 0, head_dim = 128, queries = 1;
};
std::size_t gqa_workspace_bytes(const GqaShape& shape);
void launch_gqa(cudaStream_t stream, const GqaShape& shape, const bf16* q, const bf16* k_cache, const bf16* v_cache,
                bf16* y, void* workspace);

/// q [sequences][queries][heads][576], cache [sequences][context][576] (latent 512, rotary 64),
/// y [sequences][queries][heads][512].
inline constexpr int kLatent = 512, kRope = 64;
struct MlaShape {
  int sequences = 0, context = 0, heads = 0, queries = 1;
};
std::size_t mla_workspace_bytes(const MlaShape& shape);
void launch_mla(cudaStream_t stream, const MlaShape& shape, const bf16* q, const bf16* cache, bf16* y,
                void* workspace);

}  // namespace moe::bench
