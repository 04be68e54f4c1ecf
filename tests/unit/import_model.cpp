// Hugging Face configs of our own making: what is read, what is assumed, what is refused.
#include "import/import.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/table.hpp"
#include "catch.hpp"
#include "config/json_file.hpp"
#include "import/match.hpp"
#include "model/load.hpp"
#include "model/sizes.hpp"
#include "repository.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;
using Catch::Contains;

Json tiny_qwen() {
  return Json::parse(R"({"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 256, "vocab_size": 1000, "num_hidden_layers": 4,
    "max_position_embeddings": 4096, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 512,
    "moe_intermediate_size": 64, "num_experts": 16, "num_experts_per_tok": 2, "mlp_only_layers": [0], "tie_word_embeddings": false})");
}

Json glm_47() {
  return Json::parse(R"({"architectures": ["Glm4MoeForCausalLM"], "hidden_size": 5120, "vocab_size": 151552, "num_hidden_layers": 92,
    "max_position_embeddings": 202752, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "attention_bias": true,
    "use_qk_norm": true, "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "num_experts_per_tok": 8,
    "n_shared_experts": 1, "first_k_dense_replace": 3, "num_nextn_predict_layers": 1, "n_group": 1, "topk_group": 1,
    "tie_word_embeddings": false})");
}

Json deepseek_v32() {
  return Json::parse(R"({"architectures": ["DeepseekV32ForCausalLM"], "hidden_size": 7168, "vocab_size": 129280, "num_hidden_layers": 61,
    "max_position_embeddings": 163840, "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_group": 8,
    "topk_group": 4, "n_shared_experts": 1, "first_k_dense_replace": 3, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1,
    "tie_word_embeddings": false, "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}})");
}

Imported imported(const Json& config, const Json* extra = nullptr) {
  return import_model(config, extra, {"config.json", "x", extra != nullptr ? "hf_quant_config.json" : ""});
}

Format format_of(const Imported& i, TensorClass c) { return i.model.checkpoints[0].format[index(c)]; }

Model ours(const std::string& name) {
  Diagnostics found;
  const Model m = load_model(test::root() + "/models/" + name + ".yaml", found);
  REQUIRE_FALSE(found.has_errors());
  return m;
}

void check_same_sizes(const Model& a, const Model& b) {
  CHECK(total(count_parameters(a).main) == total(count_parameters(b).main));
  CHECK(total(count_parameters(a).mtp) == total(count_parameters(b).mtp));
  for (const KvDtype d : {KvDtype::bf16, KvDtype::fp8}) CHECK(kv_size(a, d).bytes_per_token == kv_size(b, d).bytes_per_token);
}

bool mentions(const std::vector<std::string>& list, const std::string& word) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& s) { return s.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("An imported model has the sizes that follow from its config", "[unit]") {
  const Imported i = imported(tiny_qwen());
  REQUIRE(i.model.layers.size() == 4);
  CHECK(i.model.mlp_of(i.model.layers[0]).kind == Mlp::Kind::dense);
  CHECK(i.model.mlp_of(i.model.layers[3]).kind == Mlp::Kind::moe);
  // Layer: q and o 256 x 8 x 32 each, k and v 256 x 2 x 32 each, norms 2 x 256 + 2 x 32. Dense 3 x 256 x 512.
  // MoE 16 x 3 x 256 x 64 + router 16 x 256. Embedding and head 1000 x 256 each, last norm 256.
  const double attention = 2.0 * 256 * 256 + 2.0 * 256 * 64 + 512 + 64, moe = 16 * 3 * 256 * 64 + 16 * 256;
  CHECK(total(count_parameters(i.model).main) == 4 * attention + 3 * 256 * 512 + 3 * moe + 2 * 256000 + 256);
  CHECK(kv_size(i.model, KvDtype::bf16).bytes_per_token == 4 * 2 * 2 * 32 * 2);
  CHECK(i.not_understood.empty());
  CHECK(i.yaml.find("# assumed: the config does not say its repository") != std::string::npos);
}

TEST_CASE("Architectures without a sample have the sizes of our own files", "[unit]") {
  check_same_sizes(imported(glm_47()).model, ours("glm-4.7"));
  const Imported v32 = imported(deepseek_v32());
  check_same_sizes(v32.model, ours("deepseek-v3.2"));
  CHECK(v32.model.checkpoints[0].format == ours("deepseek-v3.2").checkpoints[0].format);
  CHECK(mentions(v32.assumed, "no list of kept modules"));
}

TEST_CASE("What is not understood is listed, what is switched off is not", "[unit]") {
  Json config = tiny_qwen();
  config["mixture_of_depths"] = 3;
  config["use_strange_feature"] = false;
  const Imported i = imported(config);
  CHECK(i.not_understood == std::vector<std::string>{"mixture_of_depths: 3"});
  CHECK(i.yaml.find("# not understood: mixture_of_depths: 3") != std::string::npos);
}

TEST_CASE("A missing or senseless key is an error, not a guess", "[unit]") {
  Json config = tiny_qwen();
  config.erase("num_experts");
  config["hidden_size"] = "wide";
  CHECK_THROWS_WITH(imported(config), Contains("`num_experts` is missing") && Contains("`hidden_size` must be a number, found \"wide\""));
}

TEST_CASE("A quantisation that cannot be read is not taken for none", "[unit]") {
  Json config = tiny_qwen();
  config["quantization_config"] = "fp8";
  CHECK_THROWS_WITH(imported(config), Contains("`quantization_config` must be an object"));
  config["quantization_config"] = {{"quant_method", "modelopt"}, {"quant_algo", 4}};
  CHECK_THROWS(imported(config));
}

TEST_CASE("What a model file cannot say is refused with the reason", "[unit]") {
  Json config = tiny_qwen();
  config["architectures"] = {"JambaForCausalLM"};
  CHECK_THROWS_WITH(imported(config), Contains("Mamba-1"));
  config["architectures"] = {"UnheardOfForCausalLM"};
  CHECK_THROWS_AS(imported(config), Infeasible);
  config = tiny_qwen();
  config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 8}, {"group_size", 128}};
  CHECK_THROWS_WITH(imported(config), Contains("int8 in groups of 128"));
}

TEST_CASE("Kept modules keep bf16, in every dialect", "[unit]") {
  Json config = glm_47();
  config["quantization_config"] = Json::parse(R"({"quant_method": "compressed-tensors", "format": "float-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": {"num_bits": 8, "type": "float"},
      "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
    "ignore": ["lm_head", "re:.*mlp\\.gate$", "model.layers.92.eh_proj", "re:.*strange.*"]})");
  const Imported channel = imported(config);
  CHECK(channel.model.checkpoints[0].format == ours("glm-4.7").checkpoints[0].format);
  CHECK(channel.model.checkpoints[0].activation == "fp8");
  CHECK(channel.unmapped == std::vector<std::string>{"model.layers.N.eh_proj", "re:.*strange.*"});
  Json awq = tiny_qwen();
  awq["quantization_config"] = Json::parse(R"({"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["gate", "self_attn"]})");
  const Imported a = imported(awq);
  CHECK(a.model.checkpoints[0].id == "awq");
  CHECK(format_of(a, TensorClass::routed_experts) == Format::int4_g128);
  CHECK(format_of(a, TensorClass::dense_mlp) == Format::int4_g128);
  CHECK(format_of(a, TensorClass::attn_q) == Format::bf16);
  CHECK(a.model.checkpoints[0].activation == "bf16");
}

TEST_CASE("A second file may hold the quantisation; a class that is split is reported", "[unit]") {
  const Json extra = Json::parse(R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8",
    "group_size": 16, "exclude_modules": ["lm_head", "model.layers.*.mlp.gate", "model.layers.1.self_attn*"]}})");
  const Imported i = imported(tiny_qwen(), &extra);
  CHECK(i.model.checkpoints[0].id == "nvfp4");
  CHECK(i.model.checkpoints[0].kv_dtype == "fp8");
  CHECK(format_of(i, TensorClass::attn_q) == Format::nvfp4);
  CHECK(mentions(i.assumed, "attn_q is quantised in part: 3 of 4 modules are nvfp4"));
  CHECK_THROWS_WITH(imported(extra), Contains("give config.json first"));
}

TEST_CASE("Layers of a kind are written as ranges with steps", "[unit]") {
  Json config = tiny_qwen();
  config["num_hidden_layers"] = 12;
  config["mlp_only_layers"] = {0, 1, 2, 5, 8, 11};
  const std::string yaml = imported(config).yaml;
  CHECK(yaml.find("  0..2, 5..11+3:\n    {attention: gqa, mlp: dense}") != std::string::npos);
  CHECK(yaml.find("  3..4, 6..7, 9..10:\n    {attention: gqa, mlp: moe}") != std::string::npos);
}

TEST_CASE("Patterns name modules as their tools read them", "[unit]") {
  CHECK(names_module("re:.*self_attn.*", "layers.3.self_attn.q_proj"));
  CHECK_FALSE(names_module("re:self_attn", "layers.3.self_attn.q_proj"));
  CHECK(names_module("language_model.model.layers.3.self_attn*", "layers.3.self_attn.q_proj"));
  CHECK_FALSE(names_module("model.layers.3.self_attn*", "layers.31.self_attn.q_proj"));
  CHECK(names_module("model.layers.*.self_attn", "layers.3.self_attn.q_proj"));
  CHECK(names_module("gate", "layers.3.mlp.gate"));
  CHECK_FALSE(names_module("gate", "layers.3.mlp.gate_proj"));
  CHECK_FALSE(names_module("re:[", "layers.3.mlp.gate"));
}

TEST_CASE("Damaged JSON is shown where it is damaged", "[unit]") {
  Diagnostics found;
  parse_json("{\n  \"a\": 1,\n  \"b\" 7168\n}\n", "config.json", found);
  const std::string text = found.render();
  CHECK(text.find("config.json:3:") != std::string::npos);
  CHECK(text.find("config.json:3:7") != std::string::npos);
  CHECK(text.find("\"b\" 7168") != std::string::npos);
  CHECK(text.find("^^^^") != std::string::npos);
  Diagnostics cut;
  parse_json("{\"a\": [1, 2", "config.json", cut);
  CHECK(cut.render().find("config.json:1:") != std::string::npos);
  Diagnostics python;
  CHECK(parse_json("{\"time_step_limit\": [0.0, Infinity]}", "config.json", python)["time_step_limit"][1].is_null());
  CHECK_FALSE(python.has_errors());
}

}  // namespace moe
