// What do engines call models and formats, and what does the table call them?
#pragma once
#include <map>
#include <string>
#include <utility>

namespace moe {

/// "lukealonso/GLM-5.1-NVFP4-MTP" -> {"GLM-5.1", "NVFP4 (MTP ckpt)"}: without owner, the format apart.
std::pair<std::string, std::string> split_model_name(const std::string& name);
/// "modelopt_fp4" -> "NVFP4"; "" where the word does not tell the format.
std::string quantisation_text(const std::string& word);
/// Fills model and quant from an engine's model name and quantisation argument ("" or "None": not given).
void add_model(std::map<std::string, std::string>& facts, const std::string& name,
               const std::string& quantisation);

/// Value behind `key` in an argument dump: key=8, key='x', 'key': 8, "key": "x". "" when the key is not
/// there.
std::string argument(const std::string& text, const std::string& key);
/// The same, "" for None, null and auto-like nothing.
std::string given_argument(const std::string& text, const std::string& key);

}  // namespace moe
