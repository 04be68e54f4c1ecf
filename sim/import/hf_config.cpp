#include "import/hf_config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNested[] = {"text_config", "llm_config", "language_config"};

/// Training, sampling and bookkeeping: no effect on shapes, bytes or the decode path.
constexpr const char* kHarmless[] = {
    "architectures", "model_type", "auto_map", "torch_dtype", "dtype", "transformers_version", "use_cache", "initializer_range",
    "attention_dropout", "hidden_dropout", "expert_dropout", "resid_pdrop", "emb_pdrop", "return_dict", "chunk_size_feed_forward",
    "num_beams", "min_length", "diversity_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
     "num_beam_groups", "num_return_sequences", "max_length", "repetition_penalty", "length_penalty", "temperature",
    "top_k", "top_p", "typical_p", "id2label", "label2id", "aux_loss_alpha", "seq_aux", "router_aux_loss_coef", "router_jitter_noise",
    "input_jitter_noise", "pretraining_tp", "ep_size", "rms_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_eps",
    "rope_theta", "rope_scaling", "rope_parameters", "rope_interleave", "partial_rotary_factor", "rotary_dim", "rotary_emb_base",
    "hidden_act", "routed_scaling_factor", "norm_topk_prob", "scoring_func", "topk_method", "quantization_config", "vision_config",
    "_name_or_path", "name_or_path", "max_window_layers", "head_dim", "qk_head_dim", "num_key_value_heads", "initial_context_length",
    "experts_per_token", "swiglu_limit", "quantization", "ignore_index", "num_logits_to_keep", "original_max_position_embeddings",
    "router_dtype", "moe_router_dtype", "mlp_hidden_act", "hidden_activation", "is_decoder", "clip_qkv", "full_attention_interval"};

bool harmless(const std::string& key, const Json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>()) || ((value.is_array() || value.is_object()) && value.empty()) ||
      (value.is_string() && value.get<std::string>().empty()))
    return true;
  if (key.ends_with("_token_id") || key.ends_with("_token_index") || key.ends_with("_placeholder")) return true;
  return std::find(std::begin(kHarmless), std::end(kHarmless), key) != std::end(kHarmless);
}

const Json& decoder_of(const Json& root) {
  for (const char* key : kNested)
    if (const auto at = root.find(key); at != root.end() && at->is_object()) return *at;
  return root;
}

std::string first_architecture(const Json& of) {
  const auto a = of.find("architectures");
  return a != of.end() && a->is_array() && !a->empty() && a->front().is_string() ? a->front().get<std::string>() : "";
}

}  // namespace

HfConfig::HfConfig(const Json& root, std::string file, Diagnostics& out)
    : root_(root), decoder_(decoder_of(root)), file_(std::move(file)), out_(out) {}

const Json* HfConfig::find(const std::string& key) const {
  read_.insert(key);
  for (const Json* from : {&decoder_, &root_})
    if (const auto at = from->find(key); at != from->end() && !at->is_null()) return &*at;
  return nullptr;
}

bool HfConfig::has(const std::string& key) const { return find(key) != nullptr; }

void HfConfig::error(const std::string& message, const std::string& help) { out_.error(message, {file_, 0, 0, 1}, {}, help); }

int HfConfig::integer(const std::string& key) {
  if (has(key)) return integer(key, 0);
  error(fmt::format("`{}` is missing, and nothing else says it", key), "is this the whole config.json of the model?");
  return 0;
}

int HfConfig::integer(const std::string& key, int otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) {
    error(fmt::format("`{}` must be a number, found {}", key, value->dump()));
    return 0;
  }
  const double number = value->get<double>();
  if (number < 0 || number > std::numeric_limits<int>::max() || number != static_cast<double>(static_cast<int>(number))) {
    error(fmt::format("`{}` must be a whole number, found {}", key, value->dump()));
    return 0;
  }
  return static_cast<int>(number);
}

int HfConfig::first_of(const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (has(key)) return integer(key, 0);
  return integer(keys.front());
}

bool HfConfig::flag(const std::string& key, bool otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) error(fmt::format("`{}` must be true or false, found {}", key, value->dump()));
  return value->is_boolean() && value->get<bool>();
}

std::string HfConfig::text(const std::string& key, const std::string& otherwise) {
  const Json* value = find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : otherwise;
}

std::vector<int> HfConfig::integers(const std::string& key) {
  std::vector<int> out;
  if (const Json* value = find(key); value != nullptr && value->is_array())
    for (const Json& item : *value) {
      if (item.is_number_integer()) out.push_back(item.get<int>());
      else error(fmt::format("`{}` must hold whole numbers, found {}", key, item.dump()));
    }
  return out;
}

std::vector<std::string> HfConfig::texts(const std::string& key) {
  std::vector<std::string> out;
  if (const Json* value = find(key); value != nullptr && value->is_array())
    for (const Json& item : *value) out.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return out;
}

void HfConfig::ignore(const std::vector<std::string>& keys) { read_.insert(keys.begin(), keys.end()); }

const Json* HfConfig::object(const std::string& key) {
  const Json* value = find(key);
  return value != nullptr && value->is_object() ? value : nullptr;
}

std::string HfConfig::architecture() const {
  const std::string top = first_architecture(root_);
  return top.empty() ? first_architecture(decoder_) : top;
}

std::string HfConfig::decoder_architecture() const { return first_architecture(decoder_); }

std::string HfConfig::model_type() const {
  for (const Json* from : {&decoder_, &root_})
    if (const auto at = from->find("model_type"); at != from->end() && at->is_string()) return at->get<std::string>();
  return "";
}

bool HfConfig::has_vision() const { return root_.contains("vision_config") || &root_ != &decoder_; }

std::vector<std::string> HfConfig::not_understood() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : decoder_.items()) {
    if (read_.contains(key) || harmless(key, value)) continue;
    const std::string text = value.dump();
    out.push_back(fmt::format("{}: {}", key, text.size() > 60 ? text.substr(0, 57) + "..." : text));
  }
  return out;
}

}  // namespace moe
