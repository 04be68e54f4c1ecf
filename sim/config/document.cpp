#include "config/document.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/hash.hpp"

namespace moe {

const Node* Node::find(std::string_view key) const {
  for (const auto& e : entries)
    if (e.key == key) return &e.value;
  return nullptr;
}

namespace {

/// Builds our tree from yaml-cpp's event stream; the node API loses the places that we need.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string file, Diagnostics& out) : file_(std::move(file)), out_(out) {}
  Node take_root() { return std::move(root_); }
  const Place& start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = place(mark, 1); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(leaf(mark, Node::Kind::null), anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node copy = anchors_[anchor];
    copy.place = place(mark, 1);
    add(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node n = leaf(mark, Node::Kind::scalar);
    n.text = value;
    n.quoted = tag == "!";
    n.place.width = static_cast<int>(value.size()) + (n.quoted ? 2 : 0);
    if (!n.quoted && (value == "~" || value == "null")) n.kind = Node::Kind::null;
    add(std::move(n), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(leaf(mark, Node::Kind::list), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(leaf(mark, Node::Kind::map), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node node;
    YAML::anchor_t anchor = 0;
    bool expects_value = false;
    std::string key;
    Place key_place;
  };

  Place place(const YAML::Mark& mark, int width) const { return {file_, mark.line + 1, mark.column + 1, width}; }
  Node leaf(const YAML::Mark& mark, Node::Kind kind) const {
    Node n;
    n.kind = kind;
    n.place = place(mark, 1);
    return n;
  }
  void open(Node n, YAML::anchor_t anchor) {
    levels_.push_back({});
    levels_.back().node = std::move(n);
    levels_.back().anchor = anchor;
  }
  void close() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(done.node), done.anchor);
  }
  void add(Node n, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = n;
    if (levels_.empty()) {
      root_ = std::move(n);
    } else if (levels_.back().node.is_list()) {
      levels_.back().node.items.push_back(std::move(n));
    } else if (!levels_.back().expects_value) {
      start_entry(n);
    } else {
      end_entry(std::move(n));
    }
  }
  void start_entry(const Node& key) {
    Level& map = levels_.back();
    map.expects_value = true;
    map.key = key.text;
    map.key_place = key.place;
    if (!key.is_scalar()) out_.error("a key must be a plain word", key.place);
  }
  static Place first_place(const Level& map) {
    for (const Entry& e : map.node.entries)
      if (e.key == map.key) return e.key_place;
    return {};
  }
  void end_entry(Node value) {
    Level& map = levels_.back();
    map.expects_value = false;
    if (value.kind == Node::Kind::null) value.place = map.key_place;
    if (map.key == "<<") {
      out_.error("merge keys (`<<`) are not supported", map.key_place, {}, "write the keys out");
      return;
    }
    if (map.node.find(map.key) != nullptr) {
      out_.add({true, fmt::format("the key `{}` appears twice in this map", map.key), map.key_place, {},
                "keep one of the two", first_place(map), "the first one"});
      return;
    }
    map.node.entries.push_back({map.key, map.key_place, std::move(value)});
  }

  std::string file_;
  Diagnostics& out_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Node> anchors_;
  Node root_;
  Place start_;
};

}  // namespace

Document parse_document(const std::string& text, const std::string& file, Diagnostics& out) {
  Document doc{file, hex64(fnv1a(text)), {}};
  doc.root.place = {file, 0, 0, 1};
  out.remember(file, text);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    TreeBuilder builder(file, out);
    if (parser.HandleNextDocument(builder)) doc.root = builder.take_root();
    TreeBuilder second(file, out);
    if (parser.HandleNextDocument(second))
      out.error("a second YAML document starts in this file", second.start(), {}, "keep one document per file");
  } catch (const YAML::Exception& e) {
    out.error("not valid YAML: " + e.msg, {file, e.mark.line + 1, e.mark.column + 1, 1});
    doc.root = {};
  }
  return doc;
}

Document load_document(const std::string& file, Diagnostics& out) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    out.error(fmt::format("`{}` is a folder, not a file", file), {file, 0, 0, 1});
    return {file, "", {}};
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    out.error(fmt::format("cannot read `{}`", file), {file, 0, 0, 1}, {}, "does the file exist?");
    return {file, "", {}};
  }
  std::ostringstream text;
  text << in.rdbuf();
  return parse_document(text.str(), file, out);
}

}  // namespace moe
