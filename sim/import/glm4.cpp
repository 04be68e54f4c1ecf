// GLM-4.5, 4.6, 4.7: GQA with biases, a few dense layers, then MoE with shared experts.
#include "import/families.hpp"

namespace moe {

void build_glm4(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), dense = c.integer("first_k_dense_replace", 0);
  Attention a = read_gqa(c, m, "gqa");
  a.qk_norm = c.flag("use_qk_norm", false) ? Attention::QkNorm::per_head : Attention::QkNorm::none;
  Mlp moe;
  moe.kind = Mlp::Kind::moe;
  moe.name = "moe";
  moe.experts = c.integer("n_routed_experts");
  moe.topk = c.integer("num_experts_per_tok");
  moe.expert_intermediate = c.integer("moe_intermediate_size");
  moe.groups = c.integer("n_group", 1);
  moe.topk_groups = c.integer("topk_group", 1);
  moe.shared_experts = c.integer("n_shared_experts", 0);
  moe.shared_intermediate = moe.shared_experts * moe.expert_intermediate;
  moe.correction_bias = true;
  moe.router_format = Format::fp32;
  c.assume("the router is stored in fp32 and has a correction bias, as in the released GLM-4 files");
  const int attention = add_block(m, a);
  fill_layers(m, layers, attention, c.integer("intermediate_size"), moe, [&](int i) { return i >= dense; });
  m.mtp.layers = c.integer("num_nextn_predict_layers", 0);
  if (m.mtp.layers > 0) m.mtp.blocks = {{attention, static_cast<int>(m.mlp.size()) - 1, false}};
}

}  // namespace moe
