// What model is this config.json? Hugging Face configs as model files of ours.
//
//   Imported i = import_model(config, nullptr, {"config.json", "deepseek-v3", ""});
//   i.yaml        the model file; every assumption is a comment `# assumed: ...` in it
//   i.model       the same, as load_model reads it
//
// A config is turned into a Model by its family (families.hpp), its quantisation into the formats of tensor classes
// (quantisation.hpp). Nothing is guessed in silence: what is not in the config is in `assumed`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"
#include "model/model.hpp"

namespace moe {

struct ImportNames {
  std::string config_file;  ///< for messages and `sources`
  std::string name;         ///< of the model
  std::string extra_file;   ///< hf_quant_config.json; "": none
};

struct Imported {
  Model model;
  std::string yaml;
  std::vector<std::string> assumed;         ///< sentences
  std::vector<std::string> not_understood;  ///< "key: value" of the config that nothing used
  std::vector<std::string> unmapped;        ///< patterns of the quantisation config that named no known tensor
};

/// Throws InputError (missing or wrong keys) or Infeasible (the architecture or format cannot be expressed).
Imported import_model(const nlohmann::ordered_json& config, const nlohmann::ordered_json* extra, const ImportNames& names);

/// Figures to check against the model card, for a terminal.
std::string import_summary(const Imported& i);
nlohmann::ordered_json import_json(const Imported& i);

/// A model as the text of a model file; `notes` become comments on top.
std::string model_yaml(const Model& m, const std::vector<std::string>& notes);

}  // namespace moe
