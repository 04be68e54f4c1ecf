#include <numeric>

#include "model/sizes.hpp"

namespace moe {
namespace {

void add(ByClass& sum, TensorClass c, double value) { sum[index(c)] += value; }

void add_all(ByClass& sum, const ByClass& part) {
  for (std::size_t c = 0; c < kTensorClassCount; ++c) sum[c] += part[c];
}

/// Multi-head latent attention, h hidden, q and c the ranks of query and KV, H heads, n/r/v head widths:
///   q_a h q, q_b q H (n+r), kv_a h (c+r), kv_b c H (n+v), o H v h, norms q + c.
/// The DSA indexer of i heads x d adds wq_b q i d, wk h d (class indexer), weights h i, a layer norm 2 d.
/// Source: DeepSeek-V2, arXiv 2405.04434, 2.1; DeepSeek-V3.2 report for the indexer.
ByClass mla_params(const Attention& a, double h, bool indexer) {
  const double heads = a.heads, q = a.q_lora_rank, c = a.kv_lora_rank, n = a.qk_nope_head_dim,
               r = a.qk_rope_head_dim, v = a.v_head_dim, in = h * a.input_mult;
  ByClass p{};
  add(p, TensorClass::attn_q, in * q + q * heads * (n + r));
  add(p, TensorClass::attn_kv, in * (c + r));
  add(p, TensorClass::attn_kv_b, c * heads * (n + v));
  add(p, TensorClass::attn_o, heads * v * h);
  add(p, TensorClass::norms, q + c);
  if (!a.dsa || !indexer) return p;
  const double i = a.dsa->heads, d = a.dsa->head_dim;
  add(p, TensorClass::indexer, q * i * d + h * d);
  add(p, TensorClass::indexer_w, h * i);
  add(p, TensorClass::norms, 2 * d);
  return p;
}

/// Grouped-query attention, H query and K key-value heads of width d:
///   q h H d (twice with an elementwise gate), k and v 2 h K d, o H d h, a headwise gate h H; biases, sinks
///   and norm weights are counted as norms.
/// Source: GQA, arXiv 2305.13245; gates and biases from the configs of the models that have them.
ByClass gqa_params(const Attention& a, double h) {
  using Gate = Attention::OutputGate;
  using Norm = Attention::QkNorm;
  const double heads = a.heads, kv = a.kv_heads, d = a.head_dim, in = h * a.input_mult;
  ByClass p{};
  add(p, TensorClass::attn_q, in * heads * d * (a.output_gate == Gate::elementwise ? 2 : 1));
  add(p, TensorClass::attn_kv, 2 * in * kv * d);
  add(p, TensorClass::attn_o, heads * d * h);
  if (a.output_gate == Gate::headwise) add(p, TensorClass::attn_gate, h * heads);
  if (a.qkv_bias) add(p, TensorClass::norms, (heads + 2 * kv) * d);
  if (a.o_bias) add(p, TensorClass::norms, h);
  if (a.sinks) add(p, TensorClass::norms, heads);
  if (a.qk_norm == Norm::per_head) add(p, TensorClass::norms, 2 * d);
  if (a.qk_norm == Norm::per_layer) add(p, TensorClass::norms, (heads + kv) * d);
  return p;
}

/// Gated delta net, K = k_heads k_head_dim, V = v_heads v_head_dim:
///   in (q, k, v and the z gate) h (2K + 2V), a and b h 2 v_heads, convolution (2K + V) taps, decay and time
///   step 2 v_heads, output norm v_head_dim, out V h.
/// Source: Gated Delta Networks, arXiv 2412.06464; layout of Qwen3-Next and Qwen3.5.
ByClass gdn_params(const Attention& a, double h) {
  const double heads = a.v_heads, key = double(a.k_heads) * a.k_head_dim, value = heads * a.v_head_dim;
  ByClass p{};
  add(p, TensorClass::linattn_in, h * (2 * key + 2 * value));
  add(p, TensorClass::linattn_small,
      h * 2 * heads + (2 * key + value) * a.conv_kernel + 2 * heads + a.v_head_dim);
  add(p, TensorClass::linattn_out, value * h);
  return p;
}

/// Mamba2, I = heads head_dim inner width, C = I + 2 groups state convolved channels:
///   in (z, x, B, C, dt) h (I + C + heads), convolution with bias C (taps + 1), A, D and dt bias 3 heads,
///   gated norm I, out I h.
/// Source: Mamba2, arXiv 2405.21060; layout of Nemotron-H.
ByClass mamba2_params(const Attention& a, double h) {
  const double heads = a.heads, inner = heads * a.head_dim, conv = inner + 2.0 * a.groups * a.state;
  ByClass p{};
  add(p, TensorClass::linattn_in, h * (inner + conv + heads));
  add(p, TensorClass::linattn_small, conv * (a.conv_kernel + 1) + 3 * heads + inner);
  add(p, TensorClass::linattn_out, inner * h);
  return p;
}

/// DeepSeek-V4 compressed attention, one shared KV head of width D, ratio r:
///   q_a h q, q_b q H D, kv h D, grouped output H D o + groups o h (o = o_lora_rank), norms q + D + H sinks.
///   r > 0 adds a compressor h 2 w D and its position table r w D (fp32, counted as hc), w = 2 with
///   overlapping windows (the layers that have an indexer), else 1. An indexer adds q i d, weights h i and
///   its own compressor (h 4 d and r 2 d).
/// Source: shapes of the released inference code (ROCm/ATOM@ffdf3bb5 atom/models/deepseek_v4.py).
ByClass dsv4_params(const Attention& a, double h) {
  const double heads = a.heads, d = a.head_dim, q = a.q_lora_rank, r = a.compress_ratio, o = a.o_lora_rank;
  const bool indexer = a.index_heads > 0;
  const double overlap = indexer ? 2 : 1;
  ByClass p{};
  add(p, TensorClass::attn_q, h * q + q * heads * d);
  add(p, TensorClass::attn_kv, h * d);
  add(p, TensorClass::attn_o, heads * d * o + a.o_groups * o * h);
  add(p, TensorClass::norms, q + d + heads);
  if (a.compress_ratio == 0) return p;
  add(p, TensorClass::compressor, h * 2 * overlap * d);
  add(p, TensorClass::hc, r * overlap * d);
  add(p, TensorClass::norms, d);
  if (!indexer) return p;
  add(p, TensorClass::indexer, q * a.index_heads * a.index_head_dim);
  add(p, TensorClass::indexer_w, h * a.index_heads);
  add(p, TensorClass::compressor, 4 * h * a.index_head_dim);
  add(p, TensorClass::hc, r * 2 * a.index_head_dim);
  add(p, TensorClass::norms, a.index_head_dim);
  return p;
}

/// Manifold-constrained hyper-connections with m streams, before attention and before the MLP:
///   2 ((2 + m) m (m h + 1) + 3).
/// Source: mHC, arXiv 2512.24880; tensor shapes of the DeepSeek-V4 release.
double hyper_connection_params(double m, double h) { return 2 * ((2 + m) * m * (m * h + 1) + 3); }

/// One decoder layer; `active` grows by what a token uses.
ByClass layer_params(const Model& model, const Layer& layer, double& active) {
  const Mlp& mlp = model.mlp_of(layer);
  ByClass p = attention_params(model.attention_of(layer), model.hidden, layer.indexer);
  add(p, TensorClass::norms, double(model.norms_per_layer) * model.hidden);
  active += total(p);
  const ByClass m = mlp_params(mlp, model.hidden);
  for (std::size_t c = 0; c < kTensorClassCount; ++c)
    active += m[c] * active_share(static_cast<TensorClass>(c), mlp);
  add_all(p, m);
  return p;
}

/// MTP layers: their blocks, the projection of (hidden, embedding) 2h -> h, three norms, heads of their own.
void count_mtp(const Model& model, ParameterCount& count) {
  const double h = model.hidden;
  for (int j = 0; j < model.mtp.layers; ++j) {
    for (const Layer& block : model.mtp.blocks)
      add_all(count.mtp, layer_params(model, block, count.active_mtp));
    add(count.mtp, TensorClass::mtp_proj, 2 * h * h);
    add(count.mtp, TensorClass::norms, 3 * h);
    count.active_mtp += 2 * h * h + 3 * h;
    if (model.mtp.own_lm_head) add(count.mtp, TensorClass::lm_head, count.head);
    if (model.mtp.own_embed) add(count.mtp, TensorClass::embed, count.embed);
  }
}

}  // namespace

double total(const ByClass& by_class) { return std::accumulate(by_class.begin(), by_class.end(), 0.0); }

ByClass attention_params(const Attention& block, int hidden, bool indexer) {
  switch (block.kind) {
    case Attention::Kind::none: return {};
    case Attention::Kind::mla: return mla_params(block, hidden, indexer);
    case Attention::Kind::gqa: return gqa_params(block, hidden);
    case Attention::Kind::gdn: return gdn_params(block, hidden);
    case Attention::Kind::mamba2: return mamba2_params(block, hidden);
    case Attention::Kind::dsv4: return dsv4_params(block, hidden);
  }
  return {};
}

/// g = 3 matrices per MLP with a gate, else 2. Experts work on width e = latent or hidden:
///   dense g h I; routed E g e I_e, their biases E ((g-1) I_e + e); shared g h I_s, gate h (with the router);
///   router E h, its bias or the correction bias E; latent down and up 2 h latent.
/// Source: DeepSeek-V3, arXiv 2412.19437, 2.1.2; biases from gpt-oss, latents from Nemotron-3.
ByClass mlp_params(const Mlp& m, int hidden) {
  const double h = hidden, matrices = m.gated ? 3 : 2, experts = m.experts,
               width = m.latent > 0 ? m.latent : hidden;
  ByClass p{};
  if (m.kind == Mlp::Kind::dense) add(p, TensorClass::dense_mlp, matrices * h * m.intermediate);
  if (m.kind != Mlp::Kind::moe) return p;
  add(p, TensorClass::routed_experts, experts * matrices * width * m.expert_intermediate);
  if (m.expert_bias)
    add(p, TensorClass::expert_bias, experts * ((matrices - 1) * m.expert_intermediate + width));
  if (m.shared_experts > 0) add(p, TensorClass::shared_experts, matrices * h * m.shared_intermediate);
  if (m.latent > 0) add(p, TensorClass::latent_proj, 2 * h * m.latent);
  add(p, TensorClass::router, experts * h + (m.shared_gate ? h : 0));
  if (m.router_bias || m.correction_bias) add(p, TensorClass::router_bias, experts);
  return p;
}

double active_share(TensorClass c, const Mlp& block) {
  const bool routed = c == TensorClass::routed_experts || c == TensorClass::expert_bias;
  return routed && block.experts > 0 ? double(block.topk) / block.experts : 1.0;
}

ParameterCount count_parameters(const Model& model) {
  const double h = model.hidden;
  ParameterCount count;
  for (const Layer& layer : model.layers) add_all(count.main, layer_params(model, layer, count.active_body));
  add(count.main, TensorClass::norms, h);
  count.active_body += h;
  for (std::size_t i = 0; model.hyper_connections > 0 && i < model.layers.size(); ++i) {
    const double streams = hyper_connection_params(model.hyper_connections, h);
    add(count.main, TensorClass::hc, streams);
    count.active_body += streams;
  }
  add(count.main, TensorClass::hc, double(model.hyper_connections) * model.hyper_connections * h);
  count.embed = count.head = double(model.vocab) * h;
  add(count.main, TensorClass::embed, count.embed);
  if (!model.tied_embeddings) add(count.main, TensorClass::lm_head, count.head);
  count.tied = model.tied_embeddings;
  count.vision = model.vision_params;
  count_mtp(model, count);
  return count;
}

std::optional<double> count_named(const ParameterCount& n, std::string_view name) {
  const double main = total(n.main), mtp = total(n.mtp);
  const std::array<double, kCountNames.size()> values{main,
                                                      main + mtp,
                                                      main + n.vision,
                                                      main + mtp + n.vision,
                                                      n.active_body,
                                                      n.active_body + n.head,
                                                      n.active_body + n.embed + (n.tied ? 0 : n.head),
                                                      mtp};
  for (std::size_t i = 0; i < kCountNames.size(); ++i)
    if (kCountNames[i] == name) return values[i];
  return std::nullopt;
}

}  // namespace moe
