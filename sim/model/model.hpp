// What is the network? Layers, experts, heads, and in which number format each class of tensors is stored.
// Sizes that follow from these facts are in model/sizes.hpp. Files: models/*.yaml, read by model/load.cpp.
//
// Example (Kimi-K2.5): 61 layers, each an MLA attention; layer 0 has a dense MLP, layers 1-60 an MoE with 384
// experts, top-8, width 2048. Its INT4 checkpoint stores routed_experts as int4_g32 and the rest as bf16.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// Classes of weight tensors; a checkpoint gives each a format.
/// attn_q: q, q_a, q_b. attn_kv: k, v, kv_a. attn_kv_b: the absorbed up-projections of MLA. linattn: GDN, Mamba2.
enum class TensorClass {
  embed, lm_head, attn_q, attn_kv, attn_kv_b, attn_o, attn_gate, indexer, indexer_w, linattn_in, linattn_out,
  linattn_small, compressor, hc, dense_mlp, routed_experts, expert_bias, shared_experts, router, router_bias,
  latent_proj, norms, mtp_proj,
};
inline constexpr std::array<std::string_view, 23> kTensorClassNames{
    "embed", "lm_head", "attn_q", "attn_kv", "attn_kv_b", "attn_o", "attn_gate", "indexer", "indexer_w",
    "linattn_in", "linattn_out", "linattn_small", "compressor", "hc", "dense_mlp", "routed_experts", "expert_bias",
    "shared_experts", "router", "router_bias", "latent_proj", "norms", "mtp_proj"};
inline constexpr std::size_t kTensorClassCount = kTensorClassNames.size();

/// Storage formats of weights; bytes_per_element(Format) includes block scales.
enum class Format { fp32, bf16, fp8_tensor, fp8_channel, fp8_b128, fp8_b128_e8m0, nvfp4, mxfp4, int4_g32, int4_g128 };
inline constexpr std::array<std::string_view, 10> kFormatNames{
    "fp32", "bf16", "fp8_tensor", "fp8_channel", "fp8_b128", "fp8_b128_e8m0", "nvfp4", "mxfp4", "int4_g32",
    "int4_g128"};

/// DeepSeek sparse attention: a small indexer picks `topk` cached tokens per query.
struct SparseIndexer {
  int heads = 0;
  int head_dim = 0;
  int topk = 0;
  std::vector<int> layers;  ///< layers that compute indices (others reuse them); empty: all
};

struct Attention {
  enum class Kind { none, mla, gqa, gdn, mamba2, dsv4 } kind = Kind::none;
  std::string name;
  int heads = 0;             ///< query heads (mamba2: heads)
  int kv_heads = 0;          ///< gqa
  int head_dim = 0;          ///< gqa, mamba2, dsv4
  int window = 0;            ///< tokens of a sliding or chunked window; 0: full attention
  int input_mult = 1;        ///< width of the projections' input in units of hidden (drafts: 2)
  // MLA
  int q_lora_rank = 0, kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  std::optional<SparseIndexer> dsa;
  // GQA extras
  enum class OutputGate { none, headwise, elementwise } output_gate = OutputGate::none;
  enum class QkNorm { none, per_head, per_layer, none_weight } qk_norm = QkNorm::none;
  bool qkv_bias = false, o_bias = false, sinks = false, rope = true;
  // Gated delta net
  int k_heads = 0, v_heads = 0, k_head_dim = 0, conv_kernel = 0;  ///< v_head_dim is shared with MLA above
  // Mamba2
  int state = 0, groups = 0;
  // DeepSeek-V4 (compressed attention)
  int compress_ratio = 0, rope_dim = 0, o_lora_rank = 0, o_groups = 0, index_heads = 0, index_head_dim = 0,
      index_topk = 0;
};

struct Mlp {
  enum class Kind { none, dense, moe } kind = Kind::none;
  std::string name;
  bool gated = true;            ///< two input matrices (w1, w3) or one
  int intermediate = 0;         ///< dense
  int experts = 0, topk = 0, expert_intermediate = 0;
  int groups = 1, topk_groups = 1;  ///< group-limited routing (n_group, topk_group)
  int shared_experts = 0;
  int shared_intermediate = 0;  ///< of all shared experts together
  bool shared_gate = false;
  int latent = 0;               ///< experts work on this width instead of hidden; 0: no
  bool expert_bias = false, router_bias = false, correction_bias = false;
  bool hash_routed = false;     ///< experts chosen by token id, no statistics
  Format router_format = Format::bf16;
};

/// One decoder layer: positions in Model::attention and Model::mlp.
struct Layer {
  int attention = 0;
  int mlp = 0;
  bool indexer = false;  ///< computes sparse-attention indices itself
};

/// Multi-token-prediction layers shipped with the model.
struct Mtp {
  int layers = 0;
  std::vector<Layer> blocks;  ///< of one MTP layer
  bool own_lm_head = false, own_embed = false;
};

struct PublishedSize {
  double gigabytes = 0;       ///< 1e9 bytes
  std::string source;
  bool gate = false;          ///< held by a test
  double tolerance_pct = 1;
};

struct LoadedSize {
  int tp = 1;
  double gib = 0;             ///< per GPU, from an engine log
  std::string source;
  bool open = false;          ///< known to differ, cause unknown: reported, not held by a test
};

/// One released set of weights.
struct Checkpoint {
  std::string id;             ///< what an experiment writes: short, e.g. int4, nvfp4, fp8, bf16
  std::string repository;     ///< e.g. moonshotai/Kimi-K2.5
  std::string method;
  std::array<Format, kTensorClassCount> format{};      ///< by TensorClass
  std::array<Format, kTensorClassCount> mtp_format{};  ///< the same for MTP layers
  std::string activation;     ///< number format of expert activations: bf16, fp8, nvfp4, ...
  std::string kv_dtype;       ///< default of the release: bf16 or fp8
  bool has_mtp = true, has_vision = true, mtp_duplicates_embed_head = false, verified = true;
  double extra_bytes = 0;
  std::vector<PublishedSize> published;
  std::vector<LoadedSize> loaded;
};

struct PublishedCount {
  std::string what;           ///< one of kCountNames (model/sizes.hpp): total_main, active_body, ...
  double billions = 0;
  std::string source, note;
  bool gate = false;
  double tolerance_pct = 1;
};

struct Model {
  std::string name;           ///< file name without .yaml
  std::string repository, architecture;
  int hidden = 0;
  int vocab = 0;
  int max_context = 0;
  bool tied_embeddings = false;
  int norms_per_layer = 2;
  int hyper_connections = 0;  ///< multiplicity of the residual stream; 0: plain residual
  double vision_params = 0;   ///< not on the decode path
  std::vector<Attention> attention;
  std::vector<Mlp> mlp;
  std::vector<Layer> layers;
  Mtp mtp;
  std::vector<Checkpoint> checkpoints;
  std::vector<PublishedCount> published;
  std::vector<std::string> sources;

  const Attention& attention_of(const Layer& l) const { return attention[static_cast<std::size_t>(l.attention)]; }
  const Mlp& mlp_of(const Layer& l) const { return mlp[static_cast<std::size_t>(l.mlp)]; }
};

}  // namespace moe
