// The verbs of moe-sim. Each takes its arguments as plain values and returns an exit code; results go to `out`,
// progress and warnings to `err`. CLI11 is seen only by main.cpp.
#pragma once
#include <iostream>
#include <string>
#include <vector>

namespace moe {

/// Exit codes (README, "Exit codes").
enum Exit { kAnswered = 0, kThreshold = 1, kBadInput = 2, kNoAnswer = 3, kBug = 70, kInterrupted = 130 };

struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool colour = false;  ///< `out` is a terminal and colour is wanted
};

struct RunArguments {
  std::vector<std::string> experiments;
  std::vector<std::string> set;    ///< key=value
  bool json = false;
  bool check_claims = false;       ///< exit 1 when a claim is refuted
  bool all_links = false;
  bool unfolded = false;           ///< simulate every rank by itself
  std::string out_dir, trace;
  std::string emit_program;        ///< file for the lowered program (docs/replay.md)
};
int run_command(const RunArguments& arguments, const Streams& streams);
struct CompareArguments {
  std::vector<std::string> files;  ///< experiments or result.json, the base first
  std::vector<std::string> set;    ///< key=value, for every experiment
  std::string flip, fail_if_slower;
  bool anyway = false, json = false;
};
int compare_command(const CompareArguments& arguments, const Streams& streams);
struct ImportArguments {
  std::string config, quantisation;  ///< config.json and, where there is one, hf_quant_config.json
  std::string out, name;
  bool json = false;
};
int import_model_command(const ImportArguments& arguments, const Streams& streams);
int check_command(const std::vector<std::string>& files, const Streams& streams);
int list_command(const std::string& what, bool json, const Streams& streams);
int explain_command(const std::string& key, const Streams& streams);
std::string version_text();

/// Runs `body` and turns what it throws into a message and an exit code.
template <class Body>
int guarded(const Streams& streams, Body body);

/// "key=value" pairs; throws InputError when there is no `=`.
std::vector<std::pair<std::string, std::string>> split_overrides(const std::vector<std::string>& set);

}  // namespace moe

#include "base/check.hpp"
#include "config/diagnostic.hpp"

namespace moe {

template <class Body>
int guarded(const Streams& s, Body body) {
  try {
    return body();
  } catch (const InputError& e) {
    s.err << e.what();
    return kBadInput;
  } catch (const Infeasible& e) {
    s.err << "no answer: " << e.what() << "\n";
    return kNoAnswer;
  } catch (const std::exception& e) {
    s.err << e.what() << "\nThis is a bug in moe-sim; please report it with the command and its files.\n";
    return kBug;
  }
}

}  // namespace moe
