#include "config/json_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace moe {
namespace {

constexpr std::size_t kQuotable = 160;  // longer lines are not quoted whole
constexpr std::size_t kAround = 30;     // characters shown on either side of the damage

/// "unexpected string literal, expected '}'" out of the parser's message.
std::string cause(const std::string& what) {
  const std::size_t dash = what.find(" - ");
  std::string text = dash == std::string::npos ? what.substr(what.find(": ") + 2) : what.substr(dash + 3);
  if (const std::size_t read = text.find("; last read: "); read != std::string::npos) {
    const std::size_t expected = text.rfind("; expected ");
    text = text.substr(0, read) + (expected == std::string::npos || expected < read ? "" : text.substr(expected));
  }
  for (std::size_t i = text.find("; "); i != std::string::npos; i = text.find("; ")) text.replace(i, 2, ", ");
  return text;
}

/// First character of the token that ends at `at`: of a string its opening quote, of a word or number its start.
std::size_t token_start(const std::string& text, std::size_t at) {
  const auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_'; };
  std::size_t start = at;
  if (text[at] == '"') {
    const std::size_t open = at == 0 ? std::string::npos : text.rfind('"', at - 1);
    const bool same_line = open != std::string::npos && text.find('\n', open) > at;
    return same_line ? open : at;
  }
  while (start > 0 && part(text[start]) && part(text[start - 1])) --start;
  return start;
}

/// Where byte `at` of the text is; keeps the text for quoting unless its line is too long, then help quotes a part.
Place place_of(const std::string& text, const std::string& file, std::size_t at, Diagnostics& out, std::string& help) {
  at = std::min(at, text.empty() ? 0 : text.size() - 1);
  const std::size_t token_end = at;
  if (!text.empty()) at = token_start(text, at);
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n');
  const Place place{file, static_cast<int>(line), static_cast<int>(at - start) + 1, static_cast<int>(token_end - at) + 1};
  if (end - start <= kQuotable) {
    out.remember(file, text);
  } else {
    const std::size_t from = std::max(start, at < kAround ? 0 : at - kAround);
    help = fmt::format("near `{}`", text.substr(from, std::min(end, at + kAround) - from));
  }
  return place;
}

/// Python writes Infinity and NaN, JSON has neither: read as null and 0. Lengths stay, so that positions do.
std::string without_non_finite(std::string text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') ++i;
    else if (text[i] == '"') in_string = !in_string;
    else if (!in_string)
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (text.compare(i, word.size(), word) == 0) {
          const std::string null = word.size() > 3 ? "null" : "0.0";
          text.replace(i, word.size(), null + std::string(word.size() - null.size(), ' '));
        }
  }
  return text;
}

}  // namespace

nlohmann::ordered_json parse_json(const std::string& text, const std::string& file, Diagnostics& out) {
  try {
    nlohmann::ordered_json value = nlohmann::ordered_json::parse(without_non_finite(text));
    if (value.is_object()) return value;
    out.error(fmt::format("expected an object at the top of the file, found {}", value.type_name()), {file, 1, 1, 1});
  } catch (const nlohmann::json::parse_error& e) {
    std::string help;
    const Place place = place_of(text, file, e.byte > 0 ? e.byte - 1 : 0, out, help);
    out.error("not valid JSON: " + cause(e.what()), place, {}, help);
  }
  return nullptr;
}

nlohmann::ordered_json load_json(const std::string& file, Diagnostics& out) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || text.str().empty()) {
    out.error(in ? "the file is empty" : "cannot read the file", {file, 0, 0, 1});
    return nullptr;
  }
  return parse_json(text.str(), file, out);
}

}  // namespace moe
