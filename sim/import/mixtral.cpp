// Plain GQA and experts on every layer: Mixtral, PhiMoE, OLMoE, Granite MoE. DBRX is the same under other names.
#include <nlohmann/json.hpp>

#include "import/families.hpp"

namespace moe {
namespace {

Mlp plain_moe(int experts, int topk, int intermediate) {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.name = "moe";
  m.experts = experts;
  m.topk = topk;
  m.expert_intermediate = intermediate;
  return m;
}

}  // namespace

void build_mixtral(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention a = read_gqa(c, m, "gqa");
  if (c.model_type() == "olmoe") a.qk_norm = Attention::QkNorm::per_layer;
  if (c.model_type() == "phimoe") {
    a.o_bias = a.qkv_bias;
    c.ignore({"num_experts", "moe_intermediate_size", "lm_head_bias"});
    c.assume("biases of the layer norms and of the output head are left out: they are not in our parameter count");
  }
  c.ignore({"attention_multiplier", "embedding_multiplier", "logits_scaling", "residual_multiplier"});
  const Mlp moe = plain_moe(c.first_of({"num_local_experts", "num_experts"}), c.integer("num_experts_per_tok"),
                            c.integer("intermediate_size"));
  fill_layers(m, layers, add_block(m, a), 0, moe, [](int) { return true; });
}

void build_dbrx(HfConfig& c, Model& m) {
  const int layers = read_common(c, m);
  Attention a = read_gqa(c, m, "gqa");
  const auto *attention = c.object("attn_config"), *experts = c.object("ffn_config");
  if (attention == nullptr || experts == nullptr) return c.error("`attn_config` or `ffn_config` is missing");
  a.kv_heads = attention->value("kv_n_heads", a.heads);
  const Mlp moe = plain_moe(experts->value("moe_num_experts", 0), experts->value("moe_top_k", 0), experts->value("ffn_hidden_size", 0));
  fill_layers(m, layers, add_block(m, a), 0, moe, [](int) { return true; });
}

}  // namespace moe
