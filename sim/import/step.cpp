// Step-3.5 and 3.7: full attention and sliding windows by layer_types, gates per head, dense layers then MoE.
#include "import/families.hpp"

namespace moe {
namespace {

Mlp read_moe(HfConfig& c) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = "moe";
  m.experts = c.first_of({"moe_num_experts", "num_experts", "n_routed_experts"});
  m.topk = c.first_of({"moe_top_k", "num_experts_per_tok"});
  m.expert_intermediate = c.integer("moe_intermediate_size");
  m.shared_intermediate = c.integer("share_expert_dim", 0);
  m.shared_experts = m.shared_intermediate > 0 ? c.integer("n_shared_experts", 1) : 0;
  m.correction_bias = c.flag("use_moe_router_bias", false);
  m.router_format = Format::fp32;
  c.ignore({"moe_router_scaling_factor"});
  c.assume("the router is stored in fp32, as in the released Step-3.5 files");
  return m;
}

}  // namespace

void build_step(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), dense = c.integer("first_k_dense_replace");
  Attention full = read_gqa(c, m, "full");
  full.qk_norm = Attention::QkNorm::per_head;
  full.output_gate = c.flag("use_head_wise_attn_gate", true) ? Attention::OutputGate::headwise : Attention::OutputGate::none;
  if (!c.has("use_head_wise_attn_gate")) c.assume("a gate per head and a norm of queries and keys, as in the released Step-3.5");
  Attention windowed = full;
  windowed.name = "swa";
  windowed.window = c.integer("sliding_window");
  windowed.heads = c.integer("swa_num_attention_heads", full.heads);
  if (!c.has("swa_num_attention_heads"))
    c.assume("windowed layers have as many query heads as full ones; the released Step-3.5 has 96 where full layers have 64");
  const std::vector<std::string> kinds = c.texts("layer_types");
  if (static_cast<int>(kinds.size()) < layers) return c.error("`layer_types` must name every layer");
  const int full_at = add_block(m, full), swa_at = add_block(m, windowed), wide = c.integer("intermediate_size");
  fill_layers(m, layers, full_at, wide, read_moe(c), [&](int i) { return i >= dense; });
  for (int i = 0; i < layers; ++i)
    if (kinds[static_cast<std::size_t>(i)] == "sliding_attention") m.layers[static_cast<std::size_t>(i)].attention = swa_at;
  m.mtp.layers = c.integer("num_nextn_predict_layers", 0);
  if (m.mtp.layers == 0) return;
  m.mtp.blocks = {{swa_at, dense > 0 ? 0 : add_block(m, dense_mlp(wide)), false}};
  m.mtp.own_lm_head = true;
  c.assume("MTP layers are dense, windowed and have their own output head, as in the released Step-3.5");
}

}  // namespace moe
