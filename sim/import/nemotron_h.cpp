// Nemotron-H MoE: one mixer per layer by a pattern of letters: M Mamba2, * attention, E experts, - dense MLP.
#include "import/families.hpp"

namespace moe {
namespace {

struct Mixers {
  int mamba = -1, attention = -1, no_attention = -1, moe = -1, dense = -1, no_mlp = -1;
};

Attention read_mamba(HfConfig& c) {
  Attention a;
  a.kind = Attention::Kind::mamba2;
  a.name = "mamba";
  a.heads = c.integer("mamba_num_heads");
  a.head_dim = c.integer("mamba_head_dim");
  a.state = c.integer("ssm_state_size");
  a.groups = c.integer("n_groups");
  a.conv_kernel = c.integer("conv_kernel");
  c.ignore({"expand", "chunk_size", "mamba_hidden_act", "mamba_ssm_cache_dtype", "use_conv_bias", "use_mamba_kernels",
            "time_step_floor", "time_step_limit", "time_step_max", "time_step_min", "rescale_prenorm_residual",
            "moe_shared_expert_overlap"});
  return a;
}

Mlp read_moe(HfConfig& c) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = "moe";
  m.gated = false;
  m.experts = c.integer("n_routed_experts");
  m.topk = c.integer("num_experts_per_tok");
  m.expert_intermediate = c.integer("moe_intermediate_size");
  m.groups = c.integer("n_group", 1);
  m.topk_groups = c.integer("topk_group", 1);
  m.shared_experts = c.integer("n_shared_experts", 0);
  m.shared_intermediate = m.shared_experts * c.integer("moe_shared_expert_intermediate_size", m.expert_intermediate);
  m.latent = c.integer("moe_latent_size", 0);
  m.correction_bias = true;
  return m;
}

/// Adds the block of a letter when it is first used. {-1, -1}: an unknown letter.
Layer layer_of(HfConfig& c, Model& m, Mixers& at, char letter) {
  if (letter == 'M' && at.mamba < 0) at.mamba = add_block(m, read_mamba(c));
  if (letter == '*' && at.attention < 0) {
    Attention a = read_gqa(c, m, "attn");
    a.rope = false;
    at.attention = add_block(m, a);
  }
  if (letter == 'E' && at.moe < 0) at.moe = add_block(m, read_moe(c));
  if (letter == '-' && at.dense < 0) {
    Mlp d = dense_mlp(c.integer("intermediate_size"));
    d.gated = false;
    at.dense = add_block(m, d);
  }
  const bool mixes = letter == 'M' || letter == '*';
  int& none = mixes ? at.no_mlp : at.no_attention;
  if (none < 0) {
    Attention no_attention;
    Mlp no_mlp;
    no_attention.name = no_mlp.name = "none";
    none = mixes ? add_block(m, no_mlp) : add_block(m, no_attention);
  }
  if (letter == 'M') return {at.mamba, at.no_mlp, false};
  if (letter == '*') return {at.attention, at.no_mlp, false};
  if (letter == 'E') return {at.no_attention, at.moe, false};
  if (letter == '-') return {at.no_attention, at.dense, false};
  c.error(std::string("the layer pattern has an unknown letter `") + letter + "`", "known: M Mamba2, * attention, E experts, - dense");
  return {at.no_attention, at.no_mlp, false};
}

}  // namespace

void build_nemotron_h(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  m.norms_per_layer = 1;
  const std::string pattern = c.text("hybrid_override_pattern"), mtp = c.text("mtp_hybrid_override_pattern");
  if (static_cast<int>(pattern.size()) != layers) return c.error("`hybrid_override_pattern` must name every layer");
  if (pattern.find('E') == std::string::npos) return c.error("the model has no experts", "only MoE models are simulated");
  c.ignore({"intermediate_size"});
  Mixers at;
  for (const char letter : pattern) m.layers.push_back(layer_of(c, m, at, letter));
  m.mtp.layers = c.integer("num_nextn_predict_layers", 0);
  if (m.mtp.layers > 0 && mtp.empty()) return c.error("`mtp_hybrid_override_pattern` is missing, but there are MTP layers");
  if (m.mtp.layers > 0)
    for (const char letter : mtp) m.mtp.blocks.push_back(layer_of(c, m, at, letter));
}

}  // namespace moe
