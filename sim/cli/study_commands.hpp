// The verbs that answer many questions at once: sweep, merge, search, plot, report; and those for living with the program.
#pragma once
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace moe {

struct SweepArguments {
  std::string experiment;
  std::vector<std::string> axes, set;
  std::string db, csv, json_file, shard;
  bool json = false;    ///< JSON on stdout instead of the table
  bool resume = false;
  int threads = 0;
};
int sweep_command(const SweepArguments& arguments, const Streams& streams);

struct MergeArguments {
  std::string into;
  std::vector<std::string> from;
  std::string csv, json_file;
};
int merge_command(const MergeArguments& arguments, const Streams& streams);

struct SearchArguments {
  std::string experiment;
  std::vector<std::string> axes, set;
  std::string batch, context, db, plot;
  double max_tpot_ms = 0, min_user = 0;
  int min_concurrency = 1, threads = 0;
  bool json = false;
};
int search_command(const SearchArguments& arguments, const Streams& streams);

struct ValidateReplayArguments {
  std::vector<std::string> results;  ///< results.json of moe-calibrate replay
  std::vector<std::string> set;      ///< key=value for every experiment, e.g. profile=FILE
  std::string csv, markdown;         ///< files to write
  bool json = false;
};
int validate_replay_command(const ValidateReplayArguments& arguments, const Streams& streams);

struct PlotArguments {
  std::string db, x, y = "tokens_per_s", out;
  std::vector<std::string> by, where;
  bool log_x = false, log_y = false, linear = false;
};
int plot_command(const PlotArguments& arguments, const Streams& streams);

struct ReportArguments {
  std::vector<std::string> results, set;  ///< experiments, result.json files, folders of `run --out`, sweep databases
  std::string out = "report.html";
};
int report_command(const ReportArguments& arguments, const Streams& streams);

struct InitArguments {
  std::string model, machine, checkpoint, stack, out;
};
int init_command(const InitArguments& arguments, const Streams& streams);

struct ValidateArguments {
  std::string file, mapping, csv, show;  ///< show: id of a row whose experiment is printed
  bool json = false;
  int threads = 0;
};
int validate_command(const ValidateArguments& arguments, const Streams& streams);

/// Hidden: writes docs/keys.md and docs/schemas/*.json, or prints a bash completion script.
int docs_command(const std::string& folder, const Streams& streams);

/// Writes `text` to a file; throws InputError when it cannot.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace moe
