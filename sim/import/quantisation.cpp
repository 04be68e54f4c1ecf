#include "import/quantisation.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "import/match.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what) {
  throw Infeasible("unsupported-quantisation", fmt::format("{} is not a weight format that a model file can say", what));
}

Format int4(int bits, int group) {
  if (bits == 4 && group == 32) return Format::int4_g32;
  if (bits == 4 && group == 128) return Format::int4_g128;
  refuse(fmt::format("int{} in groups of {}", bits, group));
}

int whole(const Json& from, const char* key, int otherwise) {
  const auto at = from.find(key);
  return at != from.end() && at->is_number() ? at->get<int>() : otherwise;
}

std::string word(const Json& from, const char* key) {
  const auto at = from.find(key);
  return at != from.end() && at->is_string() ? at->get<std::string>() : "";
}

/// `weights` of a compressed-tensors or ModelOpt group.
Format format_of_weights(const Json& w) {
  const int bits = whole(w, "num_bits", 0), group = whole(w, "group_size", 0);
  const std::string type = word(w, "type"), strategy = word(w, "strategy");
  if (type == "int") return int4(bits, group);
  if (type == "float" && bits == 4 && group == 16) return Format::nvfp4;
  if (type == "float" && bits == 4 && group == 32) return Format::mxfp4;
  if (type == "float" && bits == 8 && strategy == "channel") return Format::fp8_channel;
  if (type == "float" && bits == 8 && strategy == "block") return Format::fp8_b128;
  if (type == "float" && bits == 8 && (strategy.empty() || strategy == "tensor")) return Format::fp8_tensor;
  refuse(fmt::format("{} with {} bits, group {}, strategy `{}`", type, bits, group, strategy));
}

/// Names of NVIDIA ModelOpt.
Format format_of_algo(const std::string& algo, int group, Scheme& s) {
  if (algo.starts_with("W4A16")) s.weights_only = true;
  if (algo == "NVFP4" || algo == "NVFP4_AWQ" || algo == "W4A16_NVFP4") return Format::nvfp4;
  if (algo == "FP8") return Format::fp8_tensor;
  if (algo == "FP8_PER_CHANNEL_PER_TOKEN") return Format::fp8_channel;
  if (algo == "FP8_PB_WO" || algo == "FP8_PB_REAL") return Format::fp8_b128;
  if (algo.find("MXFP4") != std::string::npos) return Format::mxfp4;
  if (algo == "W4A16_AWQ" || algo == "INT4_AWQ") return int4(4, group);
  refuse("ModelOpt `" + algo + "`");
}

void read_groups(const Json& q, Scheme& s) {
  const auto groups = q.find("config_groups");
  if (groups == q.end()) return;
  for (const auto& [name, group] : groups->items()) {
    const auto weights = group.find("weights");
    if (weights == group.end() || weights->is_null()) continue;
    const Format format = format_of_weights(*weights);
    const auto input = group.find("input_activations");
    if (format != Format::bf16 && (input == group.end() || input->is_null())) s.weights_only = true;
    for (const Json& target : group.value("targets", Json::array({"Linear"}))) {
      const std::string text = target.is_string() ? target.get<std::string>() : "";
      if (text == "Linear") s.base = format;
      else if (text.find('*') != std::string::npos || text.starts_with("re:")) s.patterns.emplace_back(text, format);
      else s.listed[bare_module(text)] = format;
    }
  }
}

void read_kept(const Json& q, Scheme& s) {
  for (const char* key : {"ignore", "ignored_layers", "exclude_modules", "modules_to_not_convert"}) {
    const auto list = q.find(key);
    if (list == q.end() || !list->is_array()) continue;
    s.lists_kept = true;
    for (const Json& item : *list)
      if (item.is_string()) s.kept.push_back(item.get<std::string>());
  }
}

void read_listed(const Json& q, Scheme& s) {
  const auto layers = q.find("quantized_layers");
  if (layers == q.end() || !layers->is_object()) return;
  for (const auto& [name, how] : layers->items())
    s.listed[bare_module(name)] = format_of_algo(word(how, "quant_algo"), whole(how, "group_size", 0), s);
}

void read_kv(const Json& q, Scheme& s) {
  const auto scheme = q.find("kv_cache_scheme");
  if (scheme != q.end() && scheme->is_object() && whole(*scheme, "num_bits", 16) == 8) s.fp8_kv = true;
  if (word(q, "kv_cache_quant_algo") == "FP8") s.fp8_kv = true;
}

void read_fp8(const Json& q, Scheme& s, HfConfig& c) {
  s.fp8_activations = true;
  const auto block = q.find("weight_block_size");
  if (block == q.end() || block->is_null()) {
    s.base = Format::fp8_tensor;
    s.method = "FP8 e4m3, one scale per tensor";
  } else {
    if (*block != Json::array({128, 128})) refuse("fp8 in blocks of " + block->dump());
    const bool powers = word(q, "scale_fmt") == "ue8m0";
    s.base = powers ? Format::fp8_b128_e8m0 : Format::fp8_b128;
    s.method = fmt::format("FP8 e4m3, one {} scale per 128x128 tile, {} activations", powers ? "e8m0" : "fp32",
                           q.value("activation_scheme", std::string("dynamic")));
  }
  if (c.text("expert_dtype") == "fp4") {
    s.experts = Format::mxfp4;
    s.method += "; routed experts e2m1 with an e8m0 scale per 32";
  }
}

/// One dialect after the other; what two files say is added up.
void read_one(const Json& q, Scheme& s, HfConfig& c) {
  const std::string method = word(q, "quant_method"), algo = word(q, "quant_algo");
  if (method == "fp8") read_fp8(q, s, c);
  else if (method == "mxfp4") s.base = Format::mxfp4, s.weights_only = true, s.method = "MXFP4 e2m1, e8m0 scale per 32";
  else if (method == "awq" || method == "gptq" || method == "auto-round") {
    s.base = int4(whole(q, "bits", 4), whole(q, "group_size", 128));
    s.weights_only = true;
    s.id = method;
    s.method = fmt::format("{} int4, group {}", method, whole(q, "group_size", 128));
  } else if (method == "compressed-tensors" || method == "modelopt" || !algo.empty()) {
    s.method = algo.empty() ? "compressed-tensors " + q.value("format", std::string()) : "ModelOpt " + algo;
    if (method != "modelopt" || algo == "MIXED_PRECISION" || algo.empty()) read_groups(q, s);
    if (!algo.empty() && algo != "MIXED_PRECISION") s.base = format_of_algo(algo, whole(q, "group_size", 16), s);
  } else {
    refuse(q.contains("bits") ? fmt::format("MLX affine {} bits in groups of {}", whole(q, "bits", 0), whole(q, "group_size", 0))
                              : fmt::format("quant_method `{}`", method));
  }
  read_kv(q, s);
  read_listed(q, s);
  if (!s.base && s.listed.empty() && s.patterns.empty()) refuse(fmt::format("`{}` without a format of its weights", method));
  // Where single modules are listed on top of an fp8 checkpoint, the kept ones are kept from that, not from fp8.
  if (method == "fp8" && !s.listed.empty()) {
    s.method += ", listed modules by ModelOpt";
    s.lists_kept = true;
    return;
  }
  read_kept(q, s);
}

}  // namespace

Scheme read_scheme(const Json* extra, HfConfig& c) {
  Scheme s;
  const Json* inside = nullptr;
  for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
    if (inside == nullptr) inside = c.object(key);
    if (inside == nullptr && c.has(key)) c.error(fmt::format("`{}` must be an object", key));
  }
  if (inside != nullptr) read_one(*inside, s, c);
  if (extra == nullptr) return s;
  const auto q = extra->find("quantization");
  if (q == extra->end() || !q->is_object() || !q->contains("quant_algo")) {
    c.error("hf_quant_config.json has no `quantization.quant_algo`", "is it the second file?");
    return s;
  }
  if (inside == nullptr) read_one(*q, s, c);
  else read_kv(*q, s);  // the same lists again
  return s;
}

}  // namespace moe
