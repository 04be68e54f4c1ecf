// What does the YAML file say, and where does it say it? A plain tree that remembers places; it knows no schema.
//
// The only file that sees yaml-cpp is document.cpp. Its traps end there: marks become 1-based, duplicate keys and
// merge keys are errors, an alias is placed where it is used, a key without a value is placed at the key.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map } kind = Kind::null;
  std::string text;             ///< scalar: as written, without quotes
  bool quoted = false;          ///< scalar: written in quotes, so always a text
  std::vector<Node> items;      ///< list
  std::vector<Entry> entries;   ///< map, in file order
  Place place;

  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  bool is_scalar() const { return kind == Kind::scalar; }
  /// The value of a key, or nullptr.
  const Node* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Place key_place;
  Node value;
};

struct Document {
  std::string file;  ///< as given by the user
  std::string hash;  ///< FNV-1a 64 of the bytes, 16 hex digits: provenance, not security
  Node root;
};

/// Reads one file. Syntax errors, duplicate keys and a missing file become diagnostics; the tree is then empty.
Document load_document(const std::string& file, Diagnostics& out);
/// The same for a text in memory, `file` names it in messages.
Document parse_document(const std::string& text, const std::string& file, Diagnostics& out);

}  // namespace moe
