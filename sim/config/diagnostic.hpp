// What is wrong with the user's files, and what would be right? Collected, never thrown one by one.
//
//   error: unknown key `switches`
//    --> two-switch.yaml:3:1  (switches)
//     |
//   3 | switches: 2
//     | ^^^^^^^^
//     = help: did you mean `switch`?
#pragma once
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// Where in a file; line and column count from 1, 0 means "the file as a whole".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int width = 1;  ///< characters to underline
};

struct Diagnostic {
  bool is_error = true;  ///< false: a warning, the run goes on
  std::string message;   ///< lower case, no full stop, names in back quotes
  Place place;
  std::string path;      ///< dotted path of the field, e.g. links[1].bandwidth
  std::string help;      ///< what would be right
  Place other;           ///< a second place that explains the first; line 0: none
  std::string other_note;
};

class Diagnostics {
 public:
  void error(std::string message, const Place& place, std::string path = {}, std::string help = {});
  void warning(std::string message, const Place& place, std::string path = {}, std::string help = {});
  void add(Diagnostic d) { all_.push_back(std::move(d)); }
  /// Keeps the text of a file so that messages can quote it.
  void remember(const std::string& file, const std::string& text);
  bool has_errors() const;
  std::size_t error_count() const;
  const std::vector<Diagnostic>& all() const { return all_; }
  /// All messages in file order, quoted and underlined, then one closing line per file with errors.
  std::string render() const;
  /// Errors only, or warnings only.
  std::string render(bool errors) const;
  /// Appends another collection.
  void merge(const Diagnostics& other);

 private:
  std::string quote(const Diagnostic& d) const;
  std::vector<Diagnostic> all_;
  std::map<std::string, std::vector<std::string>> lines_;
};

/// The input is wrong (exit code 2); carries every diagnostic that was found.
struct InputError : std::runtime_error {
  explicit InputError(Diagnostics d);
  /// One sentence without a place, e.g. a wrong command-line argument.
  explicit InputError(const std::string& sentence);
  Diagnostics diagnostics;
};

/// The candidate closest to `word` by Damerau-Levenshtein distance, if it is at most max(1, length/3); else the only one
/// that starts with `word` (a forgotten unit suffix); else "".
std::string closest(std::string_view word, const std::vector<std::string>& candidates);
/// "did you mean `x`?", or the list of what is known.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace moe
