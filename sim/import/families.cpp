#include "import/families.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"

namespace moe {
namespace {

using T = TensorClass;

constexpr ModuleName kDeepseek[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_a_proj"}, {T::attn_q, "self_attn.q_b_proj"},
    {T::attn_kv, "self_attn.kv_a_proj_with_mqa"}, {T::attn_kv_b, "self_attn.kv_b_proj"}, {T::attn_o, "self_attn.o_proj"},
    {T::indexer, "self_attn.indexer.wq_b"}, {T::indexer, "self_attn.indexer.wk"}, {T::dense_mlp, "mlp.gate_proj"},
    {T::dense_mlp, "mlp.up_proj"}, {T::dense_mlp, "mlp.down_proj"}, {T::routed_experts, "mlp.experts.0.up_proj"},
    {T::routed_experts, "mlp.experts.0.down_proj"}, {T::shared_experts, "mlp.shared_experts.up_proj"},
    {T::shared_experts, "mlp.shared_experts.down_proj"}, {T::router, "mlp.gate"}};
constexpr ModuleName kDeepseekV4[] = {
    {T::lm_head, "head"}, {T::attn_q, "attn.wq_a"}, {T::attn_q, "attn.wq_b"}, {T::attn_kv, "attn.wkv"}, {T::attn_o, "attn.wo_a"},
    {T::attn_o, "attn.wo_b"}, {T::indexer, "attn.indexer.wq_b"}, {T::routed_experts, "ffn.experts.0.w1"},
    {T::shared_experts, "ffn.shared_experts.w1"}, {T::router, "ffn.gate"}, {T::mtp_proj, "e_proj"}};
constexpr ModuleName kQwen[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_proj"}, {T::attn_kv, "self_attn.k_proj"}, {T::attn_kv, "self_attn.v_proj"},
    {T::attn_o, "self_attn.o_proj"}, {T::linattn_in, "linear_attn.in_proj_qkv"}, {T::linattn_in, "linear_attn.in_proj_z"},
    {T::linattn_out, "linear_attn.out_proj"}, {T::dense_mlp, "mlp.up_proj"}, {T::dense_mlp, "mlp.down_proj"},
    {T::routed_experts, "mlp.experts.0.up_proj"}, {T::routed_experts, "mlp.experts.0.down_proj"},
    {T::shared_experts, "mlp.shared_expert.up_proj"}, {T::shared_experts, "mlp.shared_expert.down_proj"}, {T::router, "mlp.gate"}};
constexpr ModuleName kGqaShared[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_proj"}, {T::attn_kv, "self_attn.k_proj"}, {T::attn_kv, "self_attn.v_proj"},
    {T::attn_o, "self_attn.o_proj"}, {T::attn_gate, "self_attn.g_proj"}, {T::dense_mlp, "mlp.up_proj"}, {T::dense_mlp, "mlp.down_proj"},
    {T::routed_experts, "mlp.experts.0.up_proj"}, {T::routed_experts, "mlp.experts.0.down_proj"},
    {T::shared_experts, "mlp.shared_experts.up_proj"}, {T::shared_experts, "mlp.shared_experts.down_proj"}, {T::router, "mlp.gate"}};
constexpr ModuleName kBlockSparse[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_proj"}, {T::attn_kv, "self_attn.k_proj"}, {T::attn_kv, "self_attn.v_proj"},
    {T::attn_o, "self_attn.o_proj"}, {T::routed_experts, "block_sparse_moe.experts.0.w1"},
    {T::routed_experts, "block_sparse_moe.experts.0.w2"}, {T::router, "block_sparse_moe.gate"}};
constexpr ModuleName kGptOss[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_proj"}, {T::attn_kv, "self_attn.k_proj"}, {T::attn_kv, "self_attn.v_proj"},
    {T::attn_o, "self_attn.o_proj"}, {T::routed_experts, "mlp.experts.gate_up_proj"}, {T::routed_experts, "mlp.experts.down_proj"},
    {T::router, "mlp.router"}};
constexpr ModuleName kLlama4[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "self_attn.q_proj"}, {T::attn_kv, "self_attn.k_proj"}, {T::attn_kv, "self_attn.v_proj"},
    {T::attn_o, "self_attn.o_proj"}, {T::dense_mlp, "feed_forward.up_proj"}, {T::dense_mlp, "feed_forward.down_proj"},
    {T::routed_experts, "feed_forward.experts.gate_up_proj"}, {T::routed_experts, "feed_forward.experts.down_proj"},
    {T::shared_experts, "feed_forward.shared_expert.up_proj"}, {T::router, "feed_forward.router"}};
constexpr ModuleName kNemotron[] = {
    {T::lm_head, "lm_head"}, {T::attn_q, "mixer.q_proj"}, {T::attn_kv, "mixer.k_proj"}, {T::attn_kv, "mixer.v_proj"},
    {T::attn_o, "mixer.o_proj"}, {T::linattn_in, "mixer.in_proj"}, {T::linattn_out, "mixer.out_proj"}, {T::dense_mlp, "mixer.up_proj"},
    {T::routed_experts, "mixer.experts.0.up_proj"}, {T::routed_experts, "mixer.experts.0.down_proj"},
    {T::shared_experts, "mixer.shared_experts.up_proj"}, {T::latent_proj, "mixer.fc1_latent_proj"}, {T::router, "mixer.gate"}};

struct Refusal {
  const char* word;   ///< part of the architecture or model type
  const char* reason;
};
constexpr Refusal kRefused[] = {
    {"Eagle", "this is a draft head for speculative decoding, not a model with experts"},
    {"KimiK3", "Kimi delta attention (linear_attn_config) is not a block that a model file can describe"},
    {"KimiLinear", "Kimi delta attention (linear_attn_config) is not a block that a model file can describe"},
    {"MiniMaxM3", "sparse attention over grouped-query attention (sparse_attention_config) is not a block that a model file can describe"},
    {"Gemma", "a layer with a dense MLP and experts side by side, and K shared with V, is not something that a model file can describe"},
    {"MiMo", "keys and values of different head width are not something that a model file can describe"},
    {"Jamba", "Mamba-1 layers (mamba_dt_rank) are not a block that a model file can describe"},
    {"LongcatFlash", "two attentions per layer and zero-computation experts are not something that a model file can describe"}};

Family make(const char* name, std::vector<std::string> architectures, std::vector<std::string> model_types,
            void (*build)(HfConfig&, Model&), std::span<const ModuleName> modules) {
  Family f;
  f.name = name;
  f.architectures = std::move(architectures);
  f.model_types = std::move(model_types);
  f.build = build;
  f.modules = modules;
  return f;
}

std::vector<Family> make_families() {
  std::vector<Family> all{
      make("Deepseek", {"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "KimiK2ForCausalLM"},
           {"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2"}, build_deepseek, kDeepseek),
      make("GlmMoeDsa", {"GlmMoeDsaForCausalLM"}, {"glm_moe_dsa"}, build_deepseek, kDeepseek),
      make("DeepseekV4", {"DeepseekV4ForCausalLM"}, {"deepseek_v4"}, build_deepseek_v4, kDeepseekV4),
      make("Glm4Moe", {"Glm4MoeForCausalLM"}, {"glm4_moe"}, build_glm4, kGqaShared),
      make("QwenMoe", {"Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM"}, {"qwen2_moe", "qwen3_moe"}, build_qwen_moe, kQwen),
      make("QwenMoe (GDN hybrid)", {"Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM"},
           {"qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"}, build_qwen_gdn, kQwen),
      make("MiniMaxM2", {"MiniMaxM2ForCausalLM"}, {"minimax_m2"}, build_minimax_m2, kBlockSparse),
      make("Mixtral", {"MixtralForCausalLM", "PhiMoEForCausalLM", "PhimoeForCausalLM", "GraniteMoeForCausalLM"},
           {"mixtral", "phimoe", "granitemoe"}, build_mixtral, kBlockSparse),
      make("Olmoe", {"OlmoeForCausalLM"}, {"olmoe"}, build_mixtral, kQwen),
      make("Dbrx", {"DbrxForCausalLM"}, {"dbrx"}, build_dbrx, kQwen),
      make("Ernie4.5Moe", {"Ernie4_5_MoeForCausalLM", "Ernie4_5_MoEForCausalLM"}, {"ernie4_5_moe"}, build_ernie, kGqaShared),
      make("GptOss", {"GptOssForCausalLM"}, {"gpt_oss"}, build_gpt_oss, kGptOss),
      make("Llama4", {"Llama4ForConditionalGeneration", "Llama4ForCausalLM"}, {"llama4", "llama4_text"}, build_llama4, kLlama4),
      make("NemotronH", {"NemotronHForCausalLM"}, {"nemotron_h"}, build_nemotron_h, kNemotron),
      make("Step3", {"Step3p5ForCausalLM", "Step3p5FlashForCausalLM", "Step3p7FlashForCausalLM", "Step3p7ForCausalLM"},
           {"step3p5", "step3p7"}, build_step, kGqaShared)};
  for (Family& f : all) {
    const std::string name = f.name;
    f.router_is_linear = f.modules.data() != kDeepseek && name != "DeepseekV4" && name != "NemotronH" && name != "Glm4Moe";
    f.fp32_router_bias = name != "NemotronH";
    f.mtp_copies_embedding = name == "Deepseek" || name == "Glm4Moe";
    f.fp8_kv = name == "DeepseekV4";
    if (name == "DeepseekV4" || name == "NemotronH") f.mtp_prefix = "mtp.0";
    if (f.modules.data() == kQwen) f.mtp_prefix = "mtp.layers.0";
  }
  return all;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = make_families();
  return all;
}

const Family& family_of(const HfConfig& c) {
  const std::string top = c.architecture(), inner = c.decoder_architecture(), type = c.model_type();
  for (const Refusal& r : kRefused)
    if (top.find(r.word) != std::string::npos) throw Infeasible("unsupported-architecture", fmt::format("{}: {}", top, r.reason));
  for (const std::string& name : {top, inner})
    for (const Family& f : families())
      if (contains(f.architectures, name)) return f;
  for (const Family& f : families())
    if (contains(f.model_types, type)) return f;
  std::string known;
  for (const Family& f : families())
    for (const std::string& a : f.architectures) known += (known.empty() ? "" : ", ") + a;
  throw Infeasible("unsupported-architecture", fmt::format("architecture `{}` (model_type `{}`) is not known\n  = help: known are {}",
                                                           top.empty() ? "?" : top, type.empty() ? "?" : type, known));
}

}  // namespace moe
