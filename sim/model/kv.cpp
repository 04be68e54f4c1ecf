#include <algorithm>

#include "model/sizes.hpp"

namespace moe {
namespace {

/// MLA caches one latent of c + r elements for all heads: 2 (c + r) B in bf16, c + r in fp8.
/// With DSA an fp8 row keeps one fp32 scale per 128 latent elements and RoPE in bf16, c + 4 c/128 + 2 r = 656
/// B at c 512, r 64; a layer that computes indices also caches an fp8 key and its scale, d + 4 = 132 B.
/// Source: DeepSeek-V2, arXiv 2405.04434, 2.1.3; FlashMLA's fp8 sparse layout. A vLLM log of GLM-5.1 shows
/// 19.55 GiB / 341504 tokens / 78 layers = 788 B = 656 + 132.
double mla_row_bytes(const Attention& a, KvDtype dtype, bool indexer) {
  const double c = a.kv_lora_rank, r = a.qk_rope_head_dim;
  if (!a.dsa) return (c + r) * (dtype == KvDtype::bf16 ? 2 : 1);
  const double row = dtype == KvDtype::bf16 ? 2 * (c + r) : c + 4 * (a.kv_lora_rank / 128) + 2 * r;
  return row + (indexer ? a.dsa->head_dim + 4 : 0);
}

/// Gated delta net: v_heads x k_head_dim x v_head_dim state in fp32, and the last taps - 1 inputs of the
/// convolution over q, k and v in bf16.
/// Source: Gated Delta Networks, arXiv 2412.06464; Qwen3.5 configs (fp32 state).
double gdn_state_bytes(const Attention& a) {
  const double channels = 2.0 * a.k_heads * a.k_head_dim + double(a.v_heads) * a.v_head_dim;
  return 4.0 * a.v_heads * a.k_head_dim * a.v_head_dim + 2 * channels * (a.conv_kernel - 1);
}

/// Mamba2: heads x head_dim x state in fp32, and the convolution's last taps - 1 inputs in bf16.
/// Source: Mamba2, arXiv 2405.21060; Nemotron-3 configs (fp32 state).
double mamba2_state_bytes(const Attention& a) {
  const double inner = double(a.heads) * a.head_dim, channels = inner + 2.0 * a.groups * a.state;
  return 4 * inner * a.state + 2 * channels * (a.conv_kernel - 1);
}

/// DeepSeek-V4: one row for all heads. bf16 2 D; fp8 keeps RoPE in bf16 and one e8m0 scale per 64 elements
/// plus one byte of padding: (D - r) + 2 r + (D - r)/64 + 1 = 584 B at D 512, r 64. A row per compress_ratio
/// tokens grows with the context, with an indexer key of d + 4 B beside it; the raw window is fixed.
/// Source: lightseekorg/tokenspeed@f4d8ec6e deepseek_v4_geometry.py.
KvLayer dsv4_layer(const Attention& a, KvDtype dtype) {
  const double d = a.head_dim, r = a.rope_dim;
  const double row = dtype == KvDtype::bf16 ? 2 * d : (d - r) + 2 * r + (a.head_dim - a.rope_dim) / 64 + 1;
  KvLayer kv;
  kv.state_bytes = row * a.window;
  if (a.compress_ratio == 0) return kv;
  kv.bytes_per_token = (row + (a.index_heads > 0 ? a.index_head_dim + 4 : 0)) / a.compress_ratio;
  return kv;
}

}  // namespace

/// GQA caches keys and values: 2 kv_heads head_dim elements per token. Source: GQA, arXiv 2305.13245.
KvLayer kv_of_layer(const Attention& block, KvDtype dtype, bool indexer) {
  const double element = dtype == KvDtype::bf16 ? 2 : 1;
  switch (block.kind) {
    case Attention::Kind::none: return {};
    case Attention::Kind::mla: return {mla_row_bytes(block, dtype, indexer), 0, 0};
    case Attention::Kind::gqa: return {2.0 * block.kv_heads * block.head_dim * element, block.window, 0};
    case Attention::Kind::gdn: return {0, 0, gdn_state_bytes(block)};
    case Attention::Kind::mamba2: return {0, 0, mamba2_state_bytes(block)};
    case Attention::Kind::dsv4: return dsv4_layer(block, dtype);
  }
  return {};
}

KvSize kv_size(const Model& model, KvDtype dtype) {
  KvSize size;
  for (const Layer& layer : model.layers) {
    const KvLayer kv = kv_of_layer(model.attention_of(layer), dtype, layer.indexer);
    size.state_bytes += kv.state_bytes;
    if (kv.window > 0)
      size.window_bytes += kv.bytes_per_token * kv.window;
    else
      size.bytes_per_token += kv.bytes_per_token;
  }
  return size;
}

double kv_bytes(const Model& model, KvDtype dtype, double context) {
  double bytes = 0;
  for (const Layer& layer : model.layers) {
    const KvLayer kv = kv_of_layer(model.attention_of(layer), dtype, layer.indexer);
    const double tokens = kv.window > 0 ? std::min<double>(context, kv.window) : context;
    bytes += kv.state_bytes + kv.bytes_per_token * tokens;
  }
  return bytes;
}

}  // namespace moe
