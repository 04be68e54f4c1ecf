// Command-line declarations of the verbs in study_commands.hpp. Included by main.cpp only: CLI11 is seen there.
#pragma once
#include <CLI/CLI.hpp>

#include "cli/study_commands.hpp"

namespace moe {

struct StudyArguments {
  SweepArguments sweep;
  MergeArguments merge;
};

inline void add_sweep(CLI::App& app, SweepArguments& a) {
  CLI::App* v = app.add_subcommand("sweep", "every combination of some values, kept in a SQLite file");
  v->add_option("experiment", a.experiment, "experiment file")->required();
  v->add_option("--axis", a.axes, "key=a,b,c or key=a..bx2 or key=a..b+s; `;` joins keys that go together");
  v->add_option("--set", a.set, "change a key of every point");
  v->add_option("--db", a.db, "result file; without it nothing is kept but the exports");
  v->add_option("--csv", a.csv, "write all rows as CSV");
  v->add_option("--json-file", a.json_file, "write all rows as JSON");
  v->add_flag("--json", a.json, "print all rows as JSON");
  v->add_flag("--resume", a.resume, "compute only what is missing in --db");
  v->add_option("--shard", a.shard, "i/n: only the i-th of n parts of the points");
  v->add_option("--threads", a.threads, "default: all cores");
}

inline void add_merge(CLI::App& app, MergeArguments& a) {
  CLI::App* v = app.add_subcommand("merge", "result files of shards into one");
  v->add_option("into", a.into, "result file to complete or create")->required();
  v->add_option("from", a.from, "result files of the same study")->required();
  v->add_option("--csv", a.csv, "write all rows as CSV");
  v->add_option("--json-file", a.json_file, "write all rows as JSON");
}

inline void add_studies(CLI::App& app, StudyArguments& a) {
  add_sweep(app, a.sweep);
  add_merge(app, a.merge);
}

/// Runs the verb that was given if it is one of these; `code` is its exit code.
inline bool study_command(const CLI::App& app, const StudyArguments& a, const Streams& s, int& code) {
  auto is = [&](const char* verb) { return app.got_subcommand(verb); };
  if (is("sweep")) code = sweep_command(a.sweep, s);
  else if (is("merge")) code = merge_command(a.merge, s);
  else return false;
  return true;
}

}  // namespace moe
