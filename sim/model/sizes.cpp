#include "model/sizes.hpp"

#include "base/check.hpp"

namespace moe {
namespace {

constexpr double kBf16Bytes = 2;

/// Classes that every tensor-parallel rank holds whole.
bool is_replicated(TensorClass c) {
  switch (c) {
    case TensorClass::norms:
    case TensorClass::router:
    case TensorClass::router_bias:
    case TensorClass::indexer:
    case TensorClass::indexer_w:
    case TensorClass::mtp_proj:
    case TensorClass::hc:
    case TensorClass::compressor:
    case TensorClass::latent_proj: return true;
    default: return false;
  }
}

/// Parameters that a rank holds of one attention block beyond its 1/tp share of the divided classes.
///   MLA and DeepSeek-V4: the down-projections feed every head, so each rank keeps them whole.
///   GQA: a rank holds at least one KV head, so with K < tp heads it keeps 1/K of k and v instead of 1/tp.
/// Source: linear layers of vLLM and SGLang (ReplicatedLinear for q_a and kv_a, KV head replication in QKV).
ByClass held_beyond_share(const Attention& a, double h, int tp) {
  const double beyond = 1 - 1.0 / tp;
  ByClass p{};
  double& q = p[index(TensorClass::attn_q)];
  double& kv = p[index(TensorClass::attn_kv)];
  if (a.kind == Attention::Kind::mla) {
    q = beyond * h * a.input_mult * a.q_lora_rank;
    kv = beyond * h * a.input_mult * (a.kv_lora_rank + a.qk_rope_head_dim);
  } else if (a.kind == Attention::Kind::dsv4) {
    q = beyond * h * a.q_lora_rank;
    kv = beyond * h * a.head_dim;
  } else if (a.kind == Attention::Kind::gqa && a.kv_heads < tp) {
    kv = 2.0 * h * a.input_mult * a.kv_heads * a.head_dim * (1.0 / a.kv_heads - 1.0 / tp);
  }
  return p;
}

/// Bytes on one rank: whole classes, shares of the divided ones, and what the layers hold beyond them.
ByClass rank_bytes(const ByClass& parameters, const std::vector<Layer>& layers, const Model& model,
                   const std::array<Format, kTensorClassCount>& format, int tp) {
  ByClass held{};
  for (std::size_t c = 0; c < kTensorClassCount; ++c)
    held[c] = parameters[c] / (is_replicated(static_cast<TensorClass>(c)) ? 1 : tp);
  for (const Layer& layer : layers) {
    const ByClass more = held_beyond_share(model.attention_of(layer), model.hidden, tp);
    for (std::size_t c = 0; c < kTensorClassCount; ++c) held[c] += more[c];
  }
  for (std::size_t c = 0; c < kTensorClassCount; ++c) held[c] *= bytes_per_element(format[c]);
  return held;
}

/// The second, absorbed copy of kv_b in bf16, divided by heads.
double absorbed_bytes(const std::vector<Layer>& layers, const Model& model, int tp) {
  double bytes = 0;
  for (const Layer& layer : layers)
    bytes += attention_params(model.attention_of(layer), model.hidden, false)[index(TensorClass::attn_kv_b)];
  return bytes * kBf16Bytes / tp;
}

/// The model with the layers of one pipeline stage only.
Model stage_of(const Model& model, const RankOptions& options) {
  Model stage = model;
  const auto n = static_cast<int>(model.layers.size());
  const int end = options.end_layer < 0 ? n : options.end_layer;
  MOE_CHECK(0 <= options.first_layer && options.first_layer <= end && end <= n, "a stage is a range of layers");
  stage.layers.assign(model.layers.begin() + options.first_layer, model.layers.begin() + end);
  return stage;
}

/// The blocks of all MTP layers, one after another.
std::vector<Layer> mtp_layers(const Model& model) {
  std::vector<Layer> all;
  for (int j = 0; j < model.mtp.layers; ++j)
    all.insert(all.end(), model.mtp.blocks.begin(), model.mtp.blocks.end());
  return all;
}

}  // namespace

double bytes_per_element(Format format) {
  switch (format) {
    case Format::fp32: return 4;
    case Format::bf16: return 2;
    case Format::fp8_tensor: return 1;
    case Format::fp8_channel: return 1 + 4.0 / 5120;
    case Format::fp8_b128: return 1 + 4.0 / (128 * 128);
    case Format::fp8_b128_e8m0: return 1 + 1.0 / (128 * 128);
    case Format::nvfp4: return 0.5 + 1.0 / 16;
    case Format::mxfp4: return 0.5 + 1.0 / 32;
    case Format::int4_g32: return 0.5 + 2.0 / 32;
    case Format::int4_g128: return 0.5 + 2.0 / 128;
  }
  return 0;
}

double CheckpointBytes::total() const {
  return moe::total(main) + moe::total(mtp) + mtp_copies + vision + extra;
}

CheckpointBytes checkpoint_bytes(const Model& model, const Checkpoint& checkpoint) {
  const ParameterCount count = count_parameters(model);
  CheckpointBytes bytes;
  for (std::size_t c = 0; c < kTensorClassCount; ++c) {
    bytes.main[c] = count.main[c] * bytes_per_element(checkpoint.format[c]);
    if (checkpoint.has_mtp) bytes.mtp[c] = count.mtp[c] * bytes_per_element(checkpoint.mtp_format[c]);
  }
  if (checkpoint.has_mtp && checkpoint.mtp_duplicates_embed_head)
    bytes.mtp_copies = (count.embed + count.head) * kBf16Bytes * model.mtp.layers;
  if (checkpoint.has_vision) bytes.vision = model.vision_params * kBf16Bytes;
  bytes.extra = checkpoint.extra_bytes;
  return bytes;
}

double RankWeights::total() const { return moe::total(main) + absorbed_copy + mtp + vision; }

RankWeights weights_on_rank(const Model& model, const Checkpoint& checkpoint, int tp, RankOptions options) {
  MOE_CHECK(tp >= 1, "tensor parallelism is at least 1");
  const Model stage = stage_of(model, options);
  ParameterCount count = count_parameters(stage);
  if (!options.embedding) count.main[index(TensorClass::embed)] = 0;
  if (!options.head) count.main[index(TensorClass::lm_head)] = 0;
  RankWeights weights;
  weights.main = rank_bytes(count.main, stage.layers, model, checkpoint.format, tp);
  if (options.expert_ranks > 0)
    for (const TensorClass c : {TensorClass::routed_experts, TensorClass::expert_bias})
      weights.main[index(c)] *= static_cast<double>(tp) / options.expert_ranks;
  weights.absorbed_copy = absorbed_bytes(stage.layers, model, tp);
  if (options.with_mtp && checkpoint.has_mtp) {
    const std::vector<Layer> blocks = mtp_layers(model);
    weights.mtp = total(rank_bytes(count.mtp, blocks, model, checkpoint.mtp_format, tp)) +
                  absorbed_bytes(blocks, model, tp);
  }
  if (checkpoint.has_vision && options.embedding)
    weights.vision = model.vision_params * kBf16Bytes / (options.vision_sharded ? tp : 1);
  return weights;
}

}  // namespace moe
