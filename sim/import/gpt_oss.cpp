// gpt-oss: sliding windows and full attention in turn, sinks and biases everywhere, experts on every layer.
#include "import/families.hpp"

namespace moe {

void build_gpt_oss(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention full = read_gqa(c, m, "full");
  full.o_bias = full.qkv_bias;
  full.sinks = true;
  Attention windowed = full;
  windowed.name = "swa";
  windowed.window = c.integer("sliding_window");
  Mlp moe;
  moe.kind = Mlp::Kind::moe;
  moe.name = "moe";
  moe.experts = c.integer("num_local_experts");
  moe.topk = c.integer("num_experts_per_tok");
  moe.expert_intermediate = c.integer("intermediate_size");
  moe.expert_bias = moe.router_bias = true;
  const std::vector<std::string> kinds = c.texts("layer_types");
  if (static_cast<int>(kinds.size()) != layers) return c.error("`layer_types` must name every layer");
  const int swa_at = add_block(m, windowed), full_at = add_block(m, full);
  fill_layers(m, layers, full_at, 0, moe, [](int) { return true; });
  for (int i = 0; i < layers; ++i)
    if (kinds[static_cast<std::size_t>(i)] == "sliding_attention") m.layers[static_cast<std::size_t>(i)].attention = swa_at;
}

}  // namespace moe
