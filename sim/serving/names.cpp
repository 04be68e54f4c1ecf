#include "serving/names.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace moe {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_format(const std::string& word) {
  static const std::vector<std::string> formats{"NVFP4", "FP4",  "MXFP4", "FP8",   "INT4", "INT8",
                                                "AWQ",   "GPTQ", "BF16",  "W4A16", "W4A8", "W8A8"};
  return std::find(formats.begin(), formats.end(), upper(word)) != formats.end();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::pair<std::string, std::string> split_model_name(const std::string& name) {
  std::string model = name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1);
  for (std::size_t i = 1; i + 1 < model.size(); ++i)  // Qwen3_5: a file name's way to write 3.5
    if (model[i] == '_' && std::isdigit(static_cast<unsigned char>(model[i - 1])) != 0 &&
        std::isdigit(static_cast<unsigned char>(model[i + 1])) != 0)
      model[i] = '.';
  std::string format;
  bool mtp = false;
  for (std::size_t dash = model.rfind('-'); dash != std::string::npos; dash = model.rfind('-')) {
    const std::string word = model.substr(dash + 1);
    if (upper(word) == "MTP")
      mtp = true;
    else if (is_format(word))
      format = upper(word) + (format.empty() ? "" : " " + format);
    else
      break;
    model.resize(dash);
  }
  return {model, format + (mtp ? format.empty() ? "MTP ckpt" : " (MTP ckpt)" : "")};
}

std::string quantisation_text(const std::string& word) {
  static const std::map<std::string, std::string> texts{{"modelopt_fp4", "NVFP4"},
                                                        {"nvfp4", "NVFP4"},
                                                        {"fp8", "FP8"},
                                                        {"w8a8_fp8", "FP8"},
                                                        {"modelopt_fp8", "FP8"},
                                                        {"mxfp4", "MXFP4"},
                                                        {"awq", "AWQ INT4"},
                                                        {"awq_marlin", "AWQ INT4"},
                                                        {"gptq", "INT4 (GPTQ)"},
                                                        {"gptq_marlin", "INT4 (GPTQ)"},
                                                        {"moe_wna16", "INT4"}};
  const auto at = texts.find(word);
  return at == texts.end() ? "" : at->second;
}

void add_model(std::map<std::string, std::string>& facts, const std::string& name,
               const std::string& quantisation) {
  if (name.empty()) return;
  const auto [model, format] = split_model_name(name);
  facts["model"] = model;
  facts["quant"] = format.empty() ? quantisation_text(quantisation) : format;
}

std::string argument(const std::string& text, const std::string& key) {
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    std::size_t i = at + key.size();
    if (i < text.size() && (text[i] == '\'' || text[i] == '"')) ++i;
    if (i >= text.size() || (text[i] != '=' && text[i] != ':')) continue;
    for (++i; i < text.size() && text[i] == ' ';) ++i;
    if (i < text.size() && (text[i] == '\'' || text[i] == '"'))
      return text.substr(i + 1, text.find(text[i], i + 1) - i - 1);
    return text.substr(i, text.find_first_of(",)} \n\r]", i) - i);
  }
  return {};
}

std::string given_argument(const std::string& text, const std::string& key) {
  const std::string value = argument(text, key);
  return value == "None" || value == "null" ? "" : value;
}

}  // namespace moe
