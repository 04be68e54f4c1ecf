#include "config/override.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace moe {
namespace {

/// Gives every node of a value the place of the command line.
void place_all(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) place_all(item, place);
  for (Entry& e : node.entries) {
    e.key_place = place;
    place_all(e.value, place);
  }
}

/// A word or number that YAML reads as itself: no parser needed. Sweeps set thousands of them.
bool is_plain(const std::string& text) {
  const bool word = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_';
  });
  return word && text != "null" && text != "Null" && text != "NULL";
}

Node read_value(const std::string& text, const std::string& source, Diagnostics& out) {
  if (!is_plain(text)) return parse_document(text, source, out).root;
  Node value;
  value.kind = Node::Kind::scalar;
  value.text = text;
  return value;
}

constexpr const char* kSource = "--set ";

}  // namespace

bool is_override(const Place& place) { return place.file.starts_with(kSource); }

void set_value(Node& root, const std::string& key, const std::string& text, Diagnostics& out) {
  const std::string source = fmt::format("{}{}={}", kSource, key, text);
  const Place place{source, 1, static_cast<int>(key.size()) + 8, static_cast<int>(text.size())};
  Diagnostics parse;
  Node value = read_value(text, source, parse);
  out.remember(source, source);
  if (parse.has_errors()) return out.error(fmt::format("`{}` is not a value", text), place, key);
  place_all(value, place);
  Node* map = &root;
  for (std::size_t from = 0;;) {
    const std::size_t dot = key.find('.', from);
    const std::string part = key.substr(from, dot == std::string::npos ? dot : dot - from);
    if (part.empty()) return out.error(fmt::format("`{}` is not a dotted key", key), place, key);
    if (map->kind == Node::Kind::null) map->kind = Node::Kind::map;
    if (!map->is_map()) return out.error(fmt::format("`{}` is not a map, `{}` cannot be set in it", key.substr(0, from - 1), part), place, key);
    Entry* entry = nullptr;
    for (Entry& e : map->entries)
      if (e.key == part) entry = &e;
    if (entry == nullptr) {
      map->entries.push_back({part, place, {}});
      entry = &map->entries.back();
      entry->value.place = place;
    }
    if (dot == std::string::npos) {
      entry->value = std::move(value);
      return;
    }
    map = &entry->value;
    from = dot + 1;
  }
}

}  // namespace moe
