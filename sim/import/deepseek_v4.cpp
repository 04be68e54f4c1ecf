// DeepSeek-V4: compressed attention with a ratio per layer, hyper-connections, experts of the first layers by token id.
#include <map>

#include "import/families.hpp"

namespace moe {
namespace {

constexpr int kIndexedRatio = 4;  // the layers of this ratio have an indexer (released inference code)

Attention read_attention(HfConfig& c, int ratio) {
  Attention a;
  a.kind = Attention::Kind::dsv4;
  a.name = ratio == 0 ? "swa" : ratio == kIndexedRatio ? "csa" : ratio == 128 ? "hca" : "csa" + std::to_string(ratio);
  a.heads = c.integer("num_attention_heads");
  a.head_dim = c.integer("head_dim");
  a.rope_dim = c.integer("qk_rope_head_dim");
  a.q_lora_rank = c.integer("q_lora_rank");
  a.o_lora_rank = c.integer("o_lora_rank");
  a.o_groups = c.integer("o_groups");
  a.window = c.integer("sliding_window");
  a.compress_ratio = ratio;
  if (ratio != kIndexedRatio) return a;
  a.index_heads = c.integer("index_n_heads");
  a.index_head_dim = c.integer("index_head_dim");
  a.index_topk = c.integer("index_topk");
  return a;
}

Mlp read_moe(HfConfig& c, bool hashed) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = hashed ? "moe_hash" : "moe";
  m.experts = c.integer("n_routed_experts");
  m.topk = c.integer("num_experts_per_tok");
  m.expert_intermediate = c.integer("moe_intermediate_size");
  m.shared_experts = c.integer("n_shared_experts", 0);
  m.shared_intermediate = m.shared_experts * m.expert_intermediate;
  m.hash_routed = hashed;
  m.correction_bias = !hashed && c.text("topk_method") == "noaux_tc";
  return m;
}

}  // namespace

void build_deepseek_v4(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), hashed = c.integer("num_hash_layers", 0);
  m.hyper_connections = c.integer("hc_mult", 0);
  m.mtp.layers = c.integer("num_nextn_predict_layers", 0);
  c.ignore({"hc_eps", "hc_sinkhorn_iters", "compress_rope_theta", "expert_dtype"});
  const std::vector<int> ratios = c.integers("compress_ratios");
  if (static_cast<int>(ratios.size()) < layers + (m.mtp.layers > 0 ? 1 : 0))
    return c.error("`compress_ratios` must name every layer and the MTP layers");
  c.assume("layers with compress ratio 4 have an indexer, others none: released inference code, not the config");
  std::map<int, int> blocks;
  const auto attention_of = [&](int ratio) {
    if (!blocks.contains(ratio)) blocks[ratio] = add_block(m, read_attention(c, ratio));
    return blocks[ratio];
  };
  const int hash = hashed > 0 ? add_block(m, read_moe(c, true)) : -1, moe = add_block(m, read_moe(c, false));
  for (int i = 0; i < layers; ++i)
    m.layers.push_back({attention_of(ratios[static_cast<std::size_t>(i)]), i < hashed ? hash : moe, false});
  if (m.mtp.layers > 0) m.mtp.blocks = {{attention_of(ratios[static_cast<std::size_t>(layers)]), moe, false}};
}

}  // namespace moe
