// What do the words of a measurement mean here? A mapping turns a row's free text (model, engine build, rig, ...) into
// keys of an experiment, by rules in a YAML file (calibration/mappings/*.yaml; docs/validate.md).
//
//   Mapping m = load_mapping("calibration/mappings/decode.yaml", diagnostics);
//   MappedRow r = apply(m, table, table.rows[0]);
//   r.reject                     // why the row has no experiment; empty: it has one
//   r.experiment()               // the experiment as YAML, to run it by itself
#pragma once
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "config/fields.hpp"
#include "validate/csv_table.hpp"

namespace moe {

/// A column and what its text must match (ECMAScript, searched anywhere in the text).
struct MapPattern {
  std::string column, text;
  std::regex regex;
};

/// Something that a row's source does not say, and how far it may move the step: a standard deviation of ln(time).
struct MapUnknown {
  std::string what;
  double spread = 0;
};

struct MapRule {
  std::vector<MapPattern> when;                          ///< all must match; none: always
  std::vector<std::pair<std::string, std::string>> set;  ///< experiment key -> text with {column} and {column.group}
  std::string reject;                                    ///< why such a row is not run
  MapUnknown unknown;                                    ///< what: empty if there is none
};

/// One question about a row. The first rule that matches answers it; `every`: all that match do.
struct MapStep {
  std::string name;
  bool every = false;
  std::vector<MapRule> rules;
  std::string otherwise;        ///< why a row that matches no rule is not run; empty: it goes on
};

struct Mapping {
  std::string file;
  CsvRules columns;
  std::vector<std::pair<std::string, std::string>> start;  ///< keys of every experiment
  std::vector<MapStep> steps;
};

/// Keys that a rule may set besides those of an experiment.
inline constexpr const char* kFamily = "family";                 ///< group of rows in the report
inline constexpr const char* kLoadPrompt = "load.prompt_tokens"; ///< chat template and the like, before the answer
inline constexpr const char* kLoadSeconds = "load.seconds";      ///< how long a cell of the benchmark ran
inline constexpr const char* kLoadOnePrompt = "load.one_prompt"; ///< "true": every stream got the same prompt, cached once
inline constexpr const char* kUsedForFit = "load.used_for_fit"; ///< what was fitted to such a row: no validation then
inline constexpr const char* kLoadTokens = "load.max_tokens";    ///< longest answer

struct MappedRow {
  std::map<std::string, std::string> keys;  ///< dotted experiment keys, without the ones above
  std::map<std::string, std::string> load;  ///< family and load.*
  std::vector<MapUnknown> unknown;
  std::string reject, step;                 ///< why not, and the step that said so
  /// The experiment as YAML text.
  std::string experiment() const;
};

/// The declarations of a mapping file.
void bind_mapping(Fields& f, Mapping& m);
/// Reads a mapping; unknown keys, columns and experiment keys, and bad patterns are errors with their place.
Mapping load_mapping(const std::string& file, Diagnostics& out);
/// The same for a document in memory.
Mapping read_mapping(const Document& doc, Diagnostics& out);

MappedRow apply(const Mapping& m, const CsvTable& table, const CsvRow& row);

}  // namespace moe
