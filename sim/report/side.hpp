// What does a comparison need to know about one run? Read from result.json, so that a saved result and a fresh
// simulation are the same thing, and any plan works: nothing here knows what tp or ep mean.
//
//   Side a = side_of(to_ordered_json(c, evaluate(c)), "tp8", "experiments/tp8.yaml");
//   Side b = read_side("out/ep8/result.json", found);      // b.name == "ep8"
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

/// One kernel path or collective of the step.
struct SidePath {
  std::string path;
  double time_ms = 0;
  double spread = 0;   ///< standard deviation of ln(measured/predicted)
};

struct SideFile {
  std::string file, hash;
};

struct Side {
  std::string name;    ///< heads its column
  std::string source;  ///< file that the user gave
  std::string problem; ///< why there is no answer; empty: there is one
  double step_ms = 0, tokens_per_s = 0, tokens_per_s_per_sequence = 0, low_ms = 0, high_ms = 0, min_ms = 0;
  double contention_ms = 0, memory_gib = 0, kv_capacity_tokens = 0;  ///< memory: of the fullest GPU
  std::vector<std::pair<std::string, double>> breakdown_ms;          ///< in the order of result.json
  std::string top_link;                                              ///< "cpu1→cpu0, costs 2.9 ms"; "": no link used
  std::vector<SidePath> paths;                                       ///< empty: an old result without them
  std::vector<std::pair<std::string, std::string>> inputs;           ///< resolved key and its text
  std::vector<SideFile> files;

  bool answered() const { return problem.empty(); }
  /// Text of a resolved input, "" where there is none.
  std::string input(const std::string& key) const;
  /// The file of a role: "model", "machine", "profile", "stack"; nullptr: not recorded.
  const SideFile* file_of(const std::string& role) const;
};

/// The inputs alone, of a run that has no answer.
void read_inputs(const nlohmann::ordered_json& inputs, Side& side);
/// Reads a result. Throws InputError that names the first key that is missing or of the wrong kind.
Side side_of(const nlohmann::ordered_json& result, const std::string& name, const std::string& source);
/// Reads a result.json. Throws InputError.
Side read_side(const std::string& file);

/// Gives sides with equal names different ones: "tp8 (1)", "tp8 (2)".
void make_names_unique(std::vector<Side>& sides);

}  // namespace moe
