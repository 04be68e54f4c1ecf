#include "import/match.hpp"

#include <array>
#include <map>
#include <regex>

namespace moe {
namespace {

constexpr std::array<std::string_view, 5> kPrefixes{"language_model.model.", "model.language_model.", "language_model.", "model.",
                                                    "backbone."};

const std::regex* compiled(const std::string& text) {
  static thread_local std::map<std::string, std::pair<bool, std::regex>> known;
  const auto found = known.find(text);
  if (found != known.end()) return found->second.first ? &found->second.second : nullptr;
  auto& entry = known[text];
  try {
    entry.second = std::regex(text);
    entry.first = true;
  } catch (const std::regex_error&) {
    return nullptr;
  }
  return &entry.second;
}

bool matches_regex(const std::string& text, const std::string& module) {
  const std::regex* re = compiled(text);
  if (re == nullptr) return false;
  for (const char* prefix : {"", "model.", "language_model.model."})
    if (std::regex_search(prefix + module, *re, std::regex_constants::match_continuous)) return true;
  return false;
}

}  // namespace

std::string bare_module(std::string_view name) {
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
  return std::string(name);
}

bool wildcard(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool names_module(const std::string& pattern, const std::string& module) {
  if (pattern.starts_with("re:")) return matches_regex(pattern.substr(3), module);
  const std::string bare = bare_module(pattern);
  if (bare.empty()) return false;
  if (bare.find('*') != std::string::npos) {
    for (std::size_t end = module.size(); end != std::string::npos && end > 0; end = module.rfind('.', end - 1))
      if (wildcard(bare, std::string_view(module).substr(0, end))) return true;
    return false;
  }
  return ("." + module + ".").find("." + bare + ".") != std::string::npos;
}

}  // namespace moe
