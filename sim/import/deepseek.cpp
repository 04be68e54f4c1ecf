// DeepSeek-V2, V3, V3.2, Kimi K2 and GLM-5: MLA, a few dense layers, then MoE with shared experts.
// V3.2 and GLM-5 add a sparse-attention indexer; GLM-5.2 has it on some layers only.
#include <algorithm>

#include "base/check.hpp"
#include "import/families.hpp"

namespace moe {
namespace {

void read_indexer(HfConfig& c, int layers, int mtp_layers, Attention& a) {
  if (!c.has("index_topk")) return;
  SparseIndexer s;
  s.heads = c.integer("index_n_heads");
  s.head_dim = c.integer("index_head_dim");
  s.topk = c.integer("index_topk");
  c.ignore({"indexer_rope_interleave", "index_share_for_mtp_iteration", "index_skip_topk_offset", "index_topk_freq", "index_topk_pattern"});
  const std::vector<std::string> types = c.texts("indexer_types");
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "full") s.layers.push_back(static_cast<int>(i));
    else if (types[i] != "shared") c.error("`indexer_types` has an unknown kind `" + types[i] + "`");
  }
  if (static_cast<int>(types.size()) == layers && mtp_layers > 0) {
    s.layers.push_back(layers);
    c.assume("`indexer_types` does not list the MTP layer: it computes its own indices");
  }
  a.dsa = s;
}

Attention read_mla(HfConfig& c) {
  Attention a;
  a.kind = Attention::Kind::mla;
  a.name = "mla";
  a.heads = c.integer("num_attention_heads");
  if (!c.has("q_lora_rank"))
    throw Infeasible("unsupported-architecture",
                     "`q_lora_rank` is null: MLA without a compressed query is not something that a model file can describe");
  a.q_lora_rank = c.integer("q_lora_rank", 0);
  a.kv_lora_rank = c.integer("kv_lora_rank");
  a.qk_nope_head_dim = c.integer("qk_nope_head_dim");
  a.qk_rope_head_dim = c.integer("qk_rope_head_dim");
  a.v_head_dim = c.integer("v_head_dim");
  return a;
}

Mlp read_moe(HfConfig& c) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = "moe";
  m.experts = c.integer("n_routed_experts");
  m.topk = c.integer("num_experts_per_tok");
  m.expert_intermediate = c.integer("moe_intermediate_size");
  m.groups = c.integer("n_group", 1);
  m.topk_groups = c.integer("topk_group", 1);
  m.shared_experts = c.integer("n_shared_experts", 0);
  m.shared_intermediate = m.shared_experts * m.expert_intermediate;
  m.correction_bias = c.text("topk_method") == "noaux_tc";
  return m;
}

}  // namespace

void build_deepseek(HfConfig& c, Model& m) {
  const int layers = read_common(c, m), dense = c.integer("first_k_dense_replace", 0), every = c.integer("moe_layer_freq", 1);
  m.mtp.layers = c.integer("num_nextn_predict_layers", 0);
  Attention a = read_mla(c);
  read_indexer(c, layers, m.mtp.layers, a);
  const int attention = add_block(m, a);
  const std::vector<std::string> kinds = c.texts("mlp_layer_types");
  fill_layers(m, layers, attention, c.integer("intermediate_size"), read_moe(c), [&](int i) {
    if (static_cast<int>(kinds.size()) == layers) return kinds[static_cast<std::size_t>(i)] == "sparse";
    return i >= dense && every > 0 && i % every == 0;
  });
  for (int i = 0; i < layers && a.dsa; ++i)
    m.layers[static_cast<std::size_t>(i)].indexer =
        a.dsa->layers.empty() || std::find(a.dsa->layers.begin(), a.dsa->layers.end(), i) != a.dsa->layers.end();
  if (m.mtp.layers > 0) m.mtp.blocks = {{attention, static_cast<int>(m.mlp.size()) - 1, a.dsa.has_value()}};
}

}  // namespace moe
