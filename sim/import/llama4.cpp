// Llama-4: chunked attention with every fourth layer global and without RoPE, dense and MoE layers interleaved.
#include <algorithm>

#include "import/families.hpp"

namespace moe {
namespace {

constexpr int kGlobalEvery = 4;  // what the released configuration class does when `no_rope_layers` is not given

/// Layers without RoPE are global. `no_rope_layers` has 0 where there is none.
std::vector<bool> global_layers(HfConfig& c, int layers) {
  const std::vector<int> rope = c.integers("no_rope_layers");
  std::vector<bool> out;
  for (int i = 0; i < layers; ++i)
    out.push_back(static_cast<int>(rope.size()) == layers ? rope[static_cast<std::size_t>(i)] == 0 : (i + 1) % kGlobalEvery == 0);
  if (static_cast<int>(rope.size()) != layers)
    c.assume("`no_rope_layers` is missing: every fourth layer is global and has no RoPE, as in the released class");
  return out;
}

}  // namespace

void build_llama4(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), step = c.integer("interleave_moe_layer_step", 1);
  Attention chunked = read_gqa(c, m, "chunked"), global = read_gqa(c, m, "global");
  chunked.window = c.integer("attention_chunk_size");
  if (c.flag("use_qk_norm", false)) chunked.qk_norm = Attention::QkNorm::none_weight;
  global.rope = false;
  c.ignore({"attn_temperature_tuning", "floor_scale", "attn_scale", "for_llm_compressor", "layer_types", "no_rope_layer_interval"});
  Mlp moe;
  moe.kind = Mlp::Kind::moe;
  moe.name = "moe";
  moe.experts = c.integer("num_local_experts");
  moe.topk = c.integer("num_experts_per_tok");
  moe.expert_intermediate = moe.shared_intermediate = c.integer("intermediate_size");
  moe.shared_experts = 1;
  const std::vector<int> listed = c.integers("moe_layers");
  const std::vector<bool> is_global = global_layers(c, layers);
  const int chunked_at = add_block(m, chunked), global_at = add_block(m, global);
  fill_layers(m, layers, chunked_at, c.integer("intermediate_size_mlp"), moe, [&](int i) {
    if (!listed.empty()) return std::find(listed.begin(), listed.end(), i) != listed.end();
    return step > 0 && (i + 1) % step == 0;
  });
  for (int i = 0; i < layers; ++i)
    if (is_global[static_cast<std::size_t>(i)]) m.layers[static_cast<std::size_t>(i)].attention = global_at;
}

}  // namespace moe
