// MiniMax-M2: GQA with a norm over all heads, experts on every layer, none shared.
#include <algorithm>

#include "import/families.hpp"

namespace moe {

void build_minimax_m2(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention a = read_gqa(c, m, "gqa");
  const std::string norm = c.text("qk_norm_type", "per_layer");
  if (c.flag("use_qk_norm", false)) a.qk_norm = norm == "per_head" ? Attention::QkNorm::per_head : Attention::QkNorm::per_layer;
  const std::vector<int> kinds = c.integers("attn_type_list");
  if (std::count(kinds.begin(), kinds.end(), 1) != static_cast<std::ptrdiff_t>(kinds.size()))
    c.error("`attn_type_list` has layers without full attention", "lightning attention cannot be expressed");
  Mlp moe;
  moe.kind = Mlp::Kind::moe;
  moe.name = "moe";
  moe.experts = c.integer("num_local_experts");
  moe.topk = c.integer("num_experts_per_tok");
  moe.expert_intermediate = c.integer("intermediate_size");
  moe.shared_intermediate = c.integer("shared_intermediate_size", 0);
  moe.shared_experts = moe.shared_intermediate > 0 ? 1 : 0;
  moe.correction_bias = c.flag("use_routing_bias", false);
  moe.router_format = Format::fp32;
  c.assume("the router is stored in fp32, as in the released MiniMax-M2 files");
  const int modules = c.integer("num_mtp_modules", 0);
  c.ignore({"use_mtp", "mtp_transformer_layers"});
  if (modules > 0) c.assume("`num_mtp_modules` is " + std::to_string(modules) + ", but the released files hold no MTP layers: left out");
  fill_layers(m, layers, add_block(m, a), 0, moe, [](int) { return true; });
}

}  // namespace moe
