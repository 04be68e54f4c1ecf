// Qwen2 MoE, Qwen3 MoE: GQA and experts on all or some layers. Qwen3-Next, Qwen3.5: gated delta nets between gated GQA.
#include <algorithm>

#include "import/families.hpp"

namespace moe {
namespace {

Mlp read_moe(HfConfig& c) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = "moe";
  m.experts = c.integer("num_experts");
  m.topk = c.integer("num_experts_per_tok");
  m.expert_intermediate = c.integer("moe_intermediate_size");
  m.shared_intermediate = c.integer("shared_expert_intermediate_size", 0);
  m.shared_experts = m.shared_intermediate > 0 ? 1 : 0;
  m.shared_gate = m.shared_experts > 0;
  return m;
}

void fill(HfConfig& c, Model& m, int layers, int attention) {
  const int step = c.integer("decoder_sparse_step", 1);
  const std::vector<int> dense = c.integers("mlp_only_layers");
  fill_layers(m, layers, attention, c.integer("intermediate_size", 0), read_moe(c), [&](int i) {
    return std::find(dense.begin(), dense.end(), i) == dense.end() && step > 0 && (i + 1) % step == 0;
  });
}

Attention read_delta_net(HfConfig& c) {
  Attention a;
  a.kind = Attention::Kind::gdn;
  a.name = "gdn";
  a.k_heads = c.integer("linear_num_key_heads");
  a.v_heads = c.integer("linear_num_value_heads");
  a.k_head_dim = c.integer("linear_key_head_dim");
  a.v_head_dim = c.integer("linear_value_head_dim");
  a.conv_kernel = c.integer("linear_conv_kernel_dim");
  c.ignore({"mamba_ssm_dtype"});
  return a;
}

}  // namespace

void build_qwen_moe(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention a = read_gqa(c, m, "gqa");
  const bool qwen2 = c.architecture() == "Qwen2MoeForCausalLM" || (c.architecture().empty() && c.model_type() == "qwen2_moe");
  a.qk_norm = qwen2 ? Attention::QkNorm::none : Attention::QkNorm::per_head;
  if (qwen2) a.qkv_bias = c.flag("qkv_bias", true);
  c.ignore({"use_qk_norm"});
  const int attention = add_block(m, a);
  fill(c, m, layers, attention);
}

void build_qwen_gdn(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention full = read_gqa(c, m, "gqa");
  full.qk_norm = Attention::QkNorm::per_head;
  full.output_gate = c.flag("attn_output_gate", true) ? Attention::OutputGate::elementwise : Attention::OutputGate::none;
  const int gdn = add_block(m, read_delta_net(c)), gqa = add_block(m, full);
  fill(c, m, layers, gdn);
  const std::vector<std::string> kinds = c.texts("layer_types");
  const int every = kinds.empty() ? c.integer("full_attention_interval") : 0;
  if (!kinds.empty() && static_cast<int>(kinds.size()) != layers) return c.error("`layer_types` must name every layer");
  for (int i = 0; i < layers; ++i) {
    const bool is_full = kinds.empty() ? every > 0 && (i + 1) % every == 0 : kinds[static_cast<std::size_t>(i)] == "full_attention";
    m.layers[static_cast<std::size_t>(i)].attention = is_full ? gqa : gdn;
  }
  m.mtp.layers = c.integer("mtp_num_hidden_layers", 0);
  m.mtp.own_embed = m.mtp.layers > 0 && c.flag("mtp_use_dedicated_embeddings", false);
  if (m.mtp.layers > 0) m.mtp.blocks = {{gqa, static_cast<int>(m.mlp.size()) - 1, false}};
}

}  // namespace moe
