// Which keys may a map have, and what do they mean? One declaration per key gives reading, unit, range check,
// "did you mean", the resolved value for provenance, and the documentation of `moe-sim explain`.
//
//   void bind(Fields& f, Link& link) {
//     f.text("name", link.name, Need::required, "name in reports");
//     f.quantity("bandwidth", link.bandwidth_Bps, Unit::bandwidth, Need::required, Range::positive(),
//                "payload bandwidth per direction");
//     f.flag("oneway", link.oneway, Need::optional, "only the written direction exists");
//   }
//
//   read_map(document.root, "", diagnostics, [&](Fields& f) { bind(f, link); });   // reads, reports unknown keys
//   describe([&](Fields& f) { bind(f, link); });                                   // lists the declarations
//
// A missing or wrong value leaves the variable as it was; the diagnostic says so, and the caller must not go on
// when there are errors.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "config/quantity.hpp"

namespace moe {

enum class Need { required, optional };

/// Allowed values, in the unit of the variable (SI base).
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;  ///< low itself is not allowed
  static Range any() { return {}; }
  static Range positive() { return {0, std::numeric_limits<double>::infinity(), true}; }
  static Range not_negative() { return {0}; }
  static Range at_least(double v) { return {v}; }
  static Range between(double lo, double hi) { return {lo, hi}; }
};

/// What is known about one key: its declaration and, after reading, its value.
struct FieldInfo {
  std::string path;   ///< plan.tp, links[].bandwidth
  std::string type;   ///< text, bandwidth, count, list, ...
  std::string value;  ///< declaration: the default; reading: the resolved value
  std::string help;
  bool required = false;
  bool given = false;  ///< reading: the file wrote it
};

class Fields {
 public:
  Fields(const Node* map, std::string path, Diagnostics* out, std::vector<FieldInfo>* record)
      : map_(map), path_(std::move(path)), out_(out), record_(record) {}

  void text(const std::string& key, std::string& into, Need need, const std::string& help);
  void flag(const std::string& key, bool& into, Need need, const std::string& help);
  void integer(const std::string& key, int& into, Need need, Range range, const std::string& help);
  void integer(const std::string& key, std::int64_t& into, Need need, Range range, const std::string& help);
  void number(const std::string& key, double& into, Need need, Range range, const std::string& help);
  void quantity(const std::string& key, double& into, Unit unit, Need need, Range range, const std::string& help);
  /// A text out of a closed set; `into` receives the position in `names`.
  void choice(const std::string& key, int& into, const std::vector<std::string>& names, Need need,
              const std::string& help);
  template <class Enum>
  void choice(const std::string& key, Enum& into, const std::vector<std::string>& names, Need need,
              const std::string& help) {
    int position = static_cast<int>(into);
    choice(key, position, names, need, help);
    into = static_cast<Enum>(position);
  }
  /// A list of texts; a single text counts as a list of one.
  void texts(const std::string& key, std::vector<std::string>& into, Need need, const std::string& help);
  /// A list of numbers; a single number counts as a list of one.
  void numbers(const std::string& key, std::vector<double>& into, Unit unit, Need need, Range range,
               const std::string& help);

  using Body = std::function<void(Fields&)>;
  using ItemBody = std::function<void(Fields&, std::size_t)>;
  using NamedBody = std::function<void(Fields&, const std::string&)>;
  /// A nested map. True when the file has it.
  bool section(const std::string& key, Need need, const std::string& help, const Body& body);
  /// A list of maps.
  void list(const std::string& key, Need need, const std::string& help, const ItemBody& body);
  /// A map whose keys are names chosen by the user.
  void named(const std::string& key, Need need, const std::string& help, const NamedBody& body);
  /// A value that needs its own reader. Declares the key and returns its node, nullptr when absent.
  const Node* raw(const std::string& key, const std::string& type, Need need, const std::string& help);

  /// The place of a key's value (or of the map where the key is absent), for checks across fields.
  Place place(const std::string& key) const;
  bool has(const std::string& key) const { return map_ != nullptr && map_->find(key) != nullptr; }
  bool describing() const { return map_ == nullptr; }
  void error(const std::string& key, const std::string& message, const std::string& help = {});
  void warning(const std::string& key, const std::string& message, const std::string& help = {});
  /// `key`, where given, has no effect because `because` has this value: an error, and only a warning when it was the
  /// command line or `override:` that gave `because` its value.
  void inert(const std::string& key, const std::string& because, const std::string& value);
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  /// Reports unknown keys and missing required ones. Called by section, list, named and read_map.
  void finish();

 private:
  const Node* declare(const std::string& key, const std::string& type, Need need, const std::string& help,
                      const std::string& fallback);
  void resolve(const std::string& value);
  bool read_number(const Node& node, const std::string& key, Unit unit, Range range, double& into);
  bool expect(const Node& node, const std::string& key, Node::Kind kind, const std::string& what);
  void read_child(const Node& node, const std::string& path, const Body& body);

  const Node* map_;
  std::string path_;
  Diagnostics* out_;
  std::vector<FieldInfo>* record_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;
};

/// Reads a map through its declarations; `record` (may be null) receives every field with its resolved value.
void read_map(const Node& map, const std::string& path, Diagnostics& out, const Fields::Body& body,
              std::vector<FieldInfo>* record = nullptr);
/// Every declaration that `body` makes, with defaults.
std::vector<FieldInfo> describe(const Fields::Body& body);

}  // namespace moe
