// ERNIE-4.5 MoE: GQA, MoE on a range of layers with a correction bias and shared experts.
#include "import/families.hpp"

namespace moe {

void build_ernie(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), first = c.integer("moe_layer_start_index", 0);
  const int last = c.integer("moe_layer_end_index", layers - 1), every = c.integer("moe_layer_interval", 1);
  Attention a = read_gqa(c, m, "gqa");
  a.qkv_bias = a.o_bias = c.flag("use_bias", false);
  Mlp moe;
  moe.kind = Mlp::Kind::moe;
  moe.name = "moe";
  moe.experts = c.integer("moe_num_experts");
  moe.topk = c.integer("moe_k");
  moe.expert_intermediate = c.integer("moe_intermediate_size");
  moe.shared_experts = c.integer("moe_num_shared_experts", 0);
  moe.shared_intermediate = moe.shared_experts * moe.expert_intermediate;
  moe.correction_bias = true;
  c.assume("the router has a correction bias, as in the released ERNIE-4.5 files");
  fill_layers(m, layers, add_block(m, a), c.integer("intermediate_size"), moe,
              [&](int i) { return i >= first && i <= last && every > 0 && (i + 1) % every == 0; });
}

}  // namespace moe
