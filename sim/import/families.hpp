// Which architectures can be imported, and how? One row per family: the names it goes by, what builds its Model, and
// what its tensors are called. A new family is one small file with a `build_...` and one row in families.cpp.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "import/hf_config.hpp"
#include "model/model.hpp"

namespace moe {

/// A tensor class and one of its modules, below "layers.N."; the classes lm_head and mtp_proj have no layer.
struct ModuleName {
  TensorClass tensors;
  const char* module;
};

struct Family {
  const char* name;                               ///< becomes Model::architecture
  std::vector<std::string> architectures;         ///< in `architectures`
  std::vector<std::string> model_types;           ///< when `architectures` is missing
  void (*build)(HfConfig& c, Model& m);
  std::span<const ModuleName> modules;
  const char* mtp_prefix = "layers.{}";           ///< where modules of an MTP layer are; {} is the number of layers
  bool router_is_linear = true;                   ///< the router is a Linear that a quantiser would touch
  bool fp32_router_bias = true;                   ///< correction biases are stored in fp32
  bool mtp_copies_embedding = false;              ///< files repeat embedding and head in the MTP layer
  bool fp8_kv = false;                            ///< the release runs with fp8 KV whatever the config says
};

const std::vector<Family>& families();
/// The family of a config. Throws Infeasible("unsupported-architecture") that says why it cannot be expressed.
const Family& family_of(const HfConfig& c);

// One file each.
void build_deepseek(HfConfig& c, Model& m);      // V2, V3, V3.2, Kimi K2, GLM-5
void build_deepseek_v4(HfConfig& c, Model& m);
void build_glm4(HfConfig& c, Model& m);
void build_qwen_moe(HfConfig& c, Model& m);      // Qwen2, Qwen3
void build_qwen_gdn(HfConfig& c, Model& m);      // Qwen3-Next, Qwen3.5
void build_minimax_m2(HfConfig& c, Model& m);
void build_mixtral(HfConfig& c, Model& m);       // Mixtral, PhiMoE, OLMoE, Granite MoE
void build_ernie(HfConfig& c, Model& m);
void build_dbrx(HfConfig& c, Model& m);
void build_gpt_oss(HfConfig& c, Model& m);
void build_llama4(HfConfig& c, Model& m);
void build_nemotron_h(HfConfig& c, Model& m);
void build_step(HfConfig& c, Model& m);

// What they share (common.cpp).
/// hidden, vocab, max_context, tied embeddings; returns the number of layers.
int read_common(HfConfig& c, Model& m);
/// A GQA block from the usual keys. head_dim: its key, else hidden / heads.
Attention read_gqa(HfConfig& c, const Model& m, const std::string& name);
Mlp dense_mlp(int intermediate);
/// Positions of added blocks.
int add_block(Model& m, Attention block);
int add_block(Model& m, Mlp block);
/// Every layer the same attention; layer i has the MoE where `is_moe(i)`, else the dense MLP, which is added when used.
template <class IsMoe>
void fill_layers(Model& m, int layers, int attention, int dense_intermediate, const Mlp& moe, IsMoe is_moe) {
  std::vector<int> kind;
  int dense_at = -1;
  for (int i = 0; i < layers; ++i)
    if (!is_moe(i) && dense_at < 0) dense_at = add_block(m, dense_mlp(dense_intermediate));
  const int moe_at = add_block(m, moe);
  for (int i = 0; i < layers; ++i) m.layers.push_back({attention, is_moe(i) ? moe_at : dense_at, false});
}

}  // namespace moe
