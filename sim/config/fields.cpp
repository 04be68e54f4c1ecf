#include "config/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/override.hpp"

namespace moe {
namespace {

std::string kind_name(const Node& n) {
  switch (n.kind) {
    case Node::Kind::null: return "nothing";
    case Node::Kind::scalar: return "`" + n.text + "`";
    case Node::Kind::list: return "a list";
    case Node::Kind::map: return "a map";
  }
  return {};
}

std::string plain(double v) { return std::isfinite(v) ? fmt::format("{:.10g}", v) : std::string("none"); }

/// A default outside the range stands for "not given".
bool inside(double v, Range r) { return v >= r.low && v <= r.high && !(r.open_low && v == r.low); }

std::string range_help(Range r) {
  if (r.open_low && r.low == 0) return "it must be greater than 0";
  if (std::isfinite(r.low) && std::isfinite(r.high)) return fmt::format("it must lie in {}..{}", plain(r.low), plain(r.high));
  if (std::isfinite(r.low)) return fmt::format("it must be at least {}", plain(r.low));
  return fmt::format("it must be at most {}", plain(r.high));
}

}  // namespace

const Node* Fields::declare(const std::string& key, const std::string& type, Need need, const std::string& help,
                            const std::string& fallback) {
  known_.push_back(key);
  const Node* node = map_ != nullptr ? map_->find(key) : nullptr;
  const bool required = need == Need::required;
  if (record_ != nullptr)
    record_->push_back({path_of(key), type, describing() && required ? "" : fallback, help, required, node != nullptr});
  if (node == nullptr && required && !describing()) missing_.push_back(key);
  if (node != nullptr && node->kind == Node::Kind::null) {
    if (required) error(key, fmt::format("`{}` has no value", key), help);
    return nullptr;
  }
  return node;
}

void Fields::resolve(const std::string& value) {
  if (record_ != nullptr) record_->back().value = value;
}

bool Fields::expect(const Node& node, const std::string& key, Node::Kind kind, const std::string& what) {
  if (node.kind == kind) return true;
  if (out_ != nullptr)
    out_->error(fmt::format("`{}` must be {}, not {}", key, what, kind_name(node)), node.place, path_of(key));
  return false;
}

Place Fields::place(const std::string& key) const {
  if (map_ == nullptr) return {};
  const Node* node = map_->find(key);
  return node != nullptr ? node->place : map_->place;
}

void Fields::error(const std::string& key, const std::string& message, const std::string& help) {
  if (out_ != nullptr) out_->error(message, place(key), path_of(key), help);
}

void Fields::warning(const std::string& key, const std::string& message, const std::string& help) {
  if (out_ != nullptr) out_->warning(message, place(key), path_of(key), help);
}

void Fields::inert(const std::string& key, const std::string& because, const std::string& value) {
  if (!has(key)) return;
  const std::string message = fmt::format("`{}` has no effect with `{}: {}`", key, because, value);
  if (is_override(place(because)) && !is_override(place(key))) warning(key, message);
  else error(key, message, fmt::format("remove it, or change `{}`", because));
}

bool Fields::read_number(const Node& node, const std::string& key, Unit unit, Range range, double& into) {
  if (!expect(node, key, Node::Kind::scalar, "a " + std::string(name_of(unit)))) return false;
  const Parsed parsed = parse_quantity(node.text, unit);
  if (!parsed.problem.empty()) {
    out_->error(parsed.problem, node.place, path_of(key), parsed.help);
    return false;
  }
  const double v = parsed.value;
  if (!inside(v, range)) {
    out_->error(fmt::format("`{}` is out of range for `{}`", node.text, key), node.place, path_of(key),
                range_help(range));
    return false;
  }
  into = v;
  return true;
}

void Fields::text(const std::string& key, std::string& into, Need need, const std::string& help) {
  const Node* node = declare(key, "text", need, help, into);
  if (node == nullptr || !expect(*node, key, Node::Kind::scalar, "a text")) return;
  if (node->text.empty() && need == Need::required) return error(key, fmt::format("`{}` is empty", key), help);
  into = node->text;
  resolve(into);
}

void Fields::flag(const std::string& key, bool& into, Need need, const std::string& help) {
  const Node* node = declare(key, "true or false", need, help, into ? "true" : "false");
  if (node == nullptr || !expect(*node, key, Node::Kind::scalar, "true or false")) return;
  if (node->text != "true" && node->text != "false")
    return error(key, fmt::format("invalid switch `{}`", node->text), "write `true` or `false`");
  into = node->text == "true";
  resolve(node->text);
}

void Fields::integer(const std::string& key, std::int64_t& into, Need need, Range range, const std::string& help) {
  const bool is_value = inside(static_cast<double>(into), range);
  const Node* node = declare(key, "count", need, help, is_value ? std::to_string(into) : "");
  double value = 0;
  if (node == nullptr || !read_number(*node, key, Unit::count, range, value)) return;
  if (std::abs(value) > 9e15) return error(key, fmt::format("`{}` is too large", node->text));
  into = static_cast<std::int64_t>(value);
  resolve(std::to_string(into));
}

void Fields::integer(const std::string& key, int& into, Need need, Range range, const std::string& help) {
  std::int64_t wide = into;
  range.high = std::min(range.high, 2147483647.0);
  integer(key, wide, need, range, help);
  into = static_cast<int>(wide);
}

void Fields::number(const std::string& key, double& into, Need need, Range range, const std::string& help) {
  quantity(key, into, Unit::number, need, range, help);
}

void Fields::quantity(const std::string& key, double& into, Unit unit, Need need, Range range,
                      const std::string& help) {
  const Node* node = declare(key, std::string(name_of(unit)), need, help, inside(into, range) ? plain(into) : "");
  if (node != nullptr && read_number(*node, key, unit, range, into)) resolve(plain(into));
}

void Fields::choice(const std::string& key, int& into, const std::vector<std::string>& names, Need need,
                    const std::string& help) {
  std::string type;
  for (const auto& n : names) type += (type.empty() ? "" : " | ") + n;
  const bool in_range = into >= 0 && static_cast<std::size_t>(into) < names.size();
  const Node* node = declare(key, type, need, help, in_range ? names[static_cast<std::size_t>(into)] : "");
  if (node == nullptr || !expect(*node, key, Node::Kind::scalar, "one of " + type)) return;
  const auto found = std::find(names.begin(), names.end(), node->text);
  if (found == names.end())
    return error(key, fmt::format("unknown value `{}` for `{}`", node->text, key), suggestion(node->text, names));
  into = static_cast<int>(found - names.begin());
  resolve(node->text);
}

void Fields::texts(const std::string& key, std::vector<std::string>& into, Need need, const std::string& help) {
  const Node* node = declare(key, "list of texts", need, help, "");
  if (node == nullptr) return;
  std::vector<std::string> read;
  std::string joined;
  const std::vector<Node> single{*node};
  for (const Node& item : node->is_list() ? node->items : single) {
    if (item.is_map()) return error(key, fmt::format("`{}` must be a list of texts, not a map", key), "a text that contains `: ` needs quotes");
    if (!expect(item, key, Node::Kind::scalar, "a list of texts")) return;
    read.push_back(item.text);
    joined += (joined.empty() ? "" : ", ") + item.text;
  }
  into = std::move(read);
  resolve(joined);
}

void Fields::numbers(const std::string& key, std::vector<double>& into, Unit unit, Need need, Range range,
                     const std::string& help) {
  const Node* node = declare(key, fmt::format("list of {}s", name_of(unit)), need, help, "");
  if (node == nullptr) return;
  std::vector<double> read;
  std::string joined;
  const std::vector<Node> single{*node};
  for (const Node& item : node->is_list() ? node->items : single) {
    double v = 0;
    if (!read_number(item, key, unit, range, v)) return;
    read.push_back(v);
    joined += (joined.empty() ? "" : ", ") + plain(v);
  }
  into = std::move(read);
  resolve(joined);
}

void Fields::read_child(const Node& node, const std::string& path, const Body& body) {
  Fields child(&node, path, out_, record_);
  body(child);
  child.finish();
}

bool Fields::section(const std::string& key, Need need, const std::string& help, const Body& body) {
  const Node* node = declare(key, "map", need, help, "");
  if (describing()) {
    Fields child(nullptr, path_of(key), out_, record_);
    body(child);
    return false;
  }
  if (node == nullptr || !expect(*node, key, Node::Kind::map, "a map")) return false;
  read_child(*node, path_of(key), body);
  return true;
}

void Fields::list(const std::string& key, Need need, const std::string& help, const ItemBody& body) {
  const Node* node = declare(key, "list of maps", need, help, "");
  if (describing()) {
    Fields child(nullptr, path_of(key) + "[]", out_, record_);
    body(child, 0);
    return;
  }
  if (node == nullptr || !expect(*node, key, Node::Kind::list, "a list")) return;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    if (!expect(node->items[i], key, Node::Kind::map, "a list of maps")) continue;
    read_child(node->items[i], fmt::format("{}[{}]", path_of(key), i), [&](Fields& f) { body(f, i); });
  }
}

void Fields::named(const std::string& key, Need need, const std::string& help, const NamedBody& body) {
  const Node* node = declare(key, "map of maps", need, help, "");
  if (describing()) {
    Fields child(nullptr, path_of(key) + ".<name>", out_, record_);
    body(child, "<name>");
    return;
  }
  if (node == nullptr || !expect(*node, key, Node::Kind::map, "a map of maps")) return;
  for (const Entry& e : node->entries) {
    if (!expect(e.value, e.key, Node::Kind::map, "a map")) continue;
    read_child(e.value, path_of(key) + "." + e.key, [&](Fields& f) { body(f, e.key); });
  }
}

const Node* Fields::raw(const std::string& key, const std::string& type, Need need, const std::string& help) {
  return declare(key, type, need, help, "");
}

void Fields::finish() {
  if (describing() || out_ == nullptr) return;
  for (const Entry& e : map_->entries) {
    if (std::find(known_.begin(), known_.end(), e.key) != known_.end()) continue;
    out_->error(fmt::format("unknown key `{}`", e.key), e.key_place, path_of(e.key), suggestion(e.key, known_));
    // An unknown key that stands for a missing one is one mistake, not two.
    std::erase(missing_, closest(e.key, known_));
  }
  for (const auto& key : missing_)
    out_->error(fmt::format("missing key `{}`", key), map_->place, path_of(key));
}

void read_map(const Node& map, const std::string& path, Diagnostics& out, const Fields::Body& body,
              std::vector<FieldInfo>* record) {
  if (!map.is_map()) {
    if (out.has_errors()) return;  // the file could not be read at all; that was said already
    out.error("a map of keys was expected here", map.place, path);
    return;
  }
  Fields fields(&map, path, &out, record);
  body(fields);
  fields.finish();
}

std::vector<FieldInfo> describe(const Fields::Body& body) {
  std::vector<FieldInfo> record;
  Fields fields(nullptr, "", nullptr, &record);
  body(fields);
  return record;
}

}  // namespace moe
