// What does a Hugging Face config.json say? Typed access that remembers what was read, so that what was not
// understood can be listed, and what was assumed can be written down.
//
//   HfConfig c(json, "config.json", found);
//   const int heads = c.integer("num_attention_heads");     // an error in `found` when missing
//   const bool gate = c.flag("attn_output_gate", false);
//   c.assume("`tie_word_embeddings` is missing: not tied");
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

class HfConfig {
 public:
  /// `root` must outlive this. A nested text_config (llm_config, language_config) is the decoder; keys that it does
  /// not have are looked for at the top.
  HfConfig(const nlohmann::ordered_json& root, std::string file, Diagnostics& out);

  /// Present and not null.
  bool has(const std::string& key) const;
  /// Required; a missing key or one of another kind is an error and 0.
  int integer(const std::string& key);
  int integer(const std::string& key, int otherwise);
  /// The first of these keys that is there; else an error that names the first.
  int first_of(const std::vector<std::string>& keys);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise = {});
  /// Empty when missing.
  std::vector<int> integers(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  /// Marks keys as understood without a value of interest.
  void ignore(const std::vector<std::string>& keys);
  /// A nested object as a config of its own (DBRX); its keys count as read there.
  const nlohmann::ordered_json* object(const std::string& key);

  std::string architecture() const;       ///< first of `architectures` at the top, else of the decoder, else ""
  std::string decoder_architecture() const;  ///< of the decoder where it has one
  std::string model_type() const;
  bool has_vision() const;
  void error(const std::string& message, const std::string& help = {});
  void assume(std::string sentence) { assumptions_.push_back(std::move(sentence)); }
  const std::vector<std::string>& assumptions() const { return assumptions_; }
  /// Keys of the decoder that nobody read, that are set, and that are not known to be harmless, with their values.
  std::vector<std::string> not_understood() const;

 private:
  const nlohmann::ordered_json* find(const std::string& key) const;
  const nlohmann::ordered_json& root_;
  const nlohmann::ordered_json& decoder_;
  std::string file_;
  Diagnostics& out_;
  mutable std::set<std::string> read_;
  std::vector<std::string> assumptions_;
};

}  // namespace moe
