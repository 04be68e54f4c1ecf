// Command-line declarations of the verbs in study_commands.hpp. Included by main.cpp only: CLI11 is seen there.
#pragma once
#include <CLI/CLI.hpp>

#include "cli/study_commands.hpp"

namespace moe {

struct StudyArguments {
  SweepArguments sweep;
  MergeArguments merge;
  SearchArguments search;
  PlotArguments plot;
  ReportArguments report;
  InitArguments init;
  ValidateArguments validate;
  ValidateReplayArguments replay;
  std::string docs;
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

inline void add_search(CLI::App& app, SearchArguments& a) {
  CLI::App* v = app.add_subcommand("search", "the best plan: every legal plan x batch, ranked");
  v->add_option("experiment", a.experiment, "experiment file; its plan and batch are replaced")->required();
  v->add_option("--batch", a.batch, "sequences in flight, e.g. 1..512x2 (the default)");
  v->add_option("--context", a.context, "cached tokens per sequence; default: the experiment's");
  v->add_option("--axis", a.axes, "a further axis, e.g. speculation");
  v->add_option("--set", a.set, "change a key of every point");
  v->add_option("--max-tpot", a.max_tpot_ms, "limit: milliseconds per output token");
  v->add_option("--min-user", a.min_user, "limit: tokens/s that every user gets");
  v->add_option("--min-concurrency", a.min_concurrency, "limit: sequences in flight");
  v->add_option("--db", a.db, "keep every point in this SQLite file (moe-sim plot, moe-sim report)");
  v->add_option("--plot", a.plot, "write the Pareto plot as SVG");
  v->add_option("--threads", a.threads, "default: all cores");
  v->add_flag("--json", a.json, "for programs");
}

inline void add_plot(CLI::App& app, PlotArguments& a) {
  CLI::App* v = app.add_subcommand("plot", "a metric of a sweep against one of its axes");
  v->add_option("db", a.db, "result file of a sweep or search")->required();
  v->add_option("--x", a.x, "axis key or metric")->required();
  v->add_option("--y", a.y, "metric: tokens_per_s, tpot, step, tokens_per_s_per_sequence, breakdown_ms.experts, ...");
  v->add_option("--by", a.by, "keys that name a line; `plan`: all plan keys")->delimiter(',');
  v->add_option("--where", a.where, "key=value: only these points");
  v->add_option("--out", a.out, "SVG file; without it the plot is drawn as text");
  v->add_flag("--log-x", a.log_x, "logarithmic; on by itself over more than a decade");
  v->add_flag("--log-y", a.log_y, "logarithmic");
  v->add_flag("--linear", a.linear, "never logarithmic by itself");
}

inline void add_report(CLI::App& app, ReportArguments& a) {
  CLI::App* v = app.add_subcommand("report", "one self-contained HTML page of runs and sweeps");
  v->add_option("result", a.results, "experiments, result.json files, folders of `run --out`, sweep databases")->required();
  v->add_option("--set", a.set, "change a key of every experiment");
  v->add_option("--out", a.out, "HTML file (report.html)");
}

inline void add_validate(CLI::App& app, ValidateArguments& a) {
  CLI::App* v = app.add_subcommand("validate", "simulate measured decode rows and compare");
  v->add_option("measurements", a.file, "CSV file, see docs/validate.md")->required();
  v->add_option("--mapping", a.mapping, "what its words mean; default: calibration/mappings/decode.yaml");
  v->add_option("--csv", a.csv, "write every row");
  v->add_option("--show", a.show, "id of a row: print its experiment and stop");
  v->add_option("--threads", a.threads, "default: all cores");
  v->add_flag("--json", a.json, "for programs");
}

inline void add_validate_replay(CLI::App& app, ValidateReplayArguments& a) {
  CLI::App* v = app.add_subcommand("validate-replay", "simulated steps beside steps that moe-calibrate replay executed");
  v->add_option("results", a.results, "results.json of moe-calibrate replay")->required();
  v->add_option("--set", a.set, "change a key of every experiment: --set profile=FILE");
  v->add_option("--csv", a.csv, "write a row per program and kernel");
  v->add_option("--markdown", a.markdown, "write the tables for the documentation");
  v->add_flag("--json", a.json, "for programs");
}

inline void add_living(CLI::App& app, StudyArguments& a) {
  CLI::App* v = app.add_subcommand("init", "write a commented experiment to start from");
  v->add_option("--model", a.init.model, "moe-sim list models");
  v->add_option("--machine", a.init.machine, "moe-sim list topologies");
  v->add_option("--checkpoint", a.init.checkpoint, "default: one that the stack runs");
  v->add_option("--stack", a.init.stack, "moe-sim list stacks");
  v->add_option("--out", a.init.out, "file to write; default: MODEL-on-MACHINE.yaml");
  CLI::App* d = app.add_subcommand("docs", "write the key reference and JSON schemas");
  d->add_option("folder", a.docs, "where keys.md and schemas/ go")->required();
  d->group("");
}

inline void add_studies(CLI::App& app, StudyArguments& a) {
  add_search(app, a.search);
  add_plot(app, a.plot);
  add_report(app, a.report);
  add_living(app, a);
  add_validate(app, a.validate);
  add_sweep(app, a.sweep);
  add_merge(app, a.merge);
  add_validate_replay(app, a.replay);
}

/// Runs the verb that was given if it is one of these; `code` is its exit code.
inline bool study_command(const CLI::App& app, const StudyArguments& a, const Streams& s, int& code) {
  auto is = [&](const char* verb) { return app.got_subcommand(verb); };
  if (is("sweep")) code = sweep_command(a.sweep, s);
  else if (is("merge")) code = merge_command(a.merge, s);
  else if (is("search")) code = search_command(a.search, s);
  else if (is("plot")) code = plot_command(a.plot, s);
  else if (is("report")) code = report_command(a.report, s);
  else if (is("validate")) code = validate_command(a.validate, s);
  else if (is("validate-replay")) code = validate_replay_command(a.replay, s);
  else if (is("init")) code = init_command(a.init, s);
  else if (is("docs")) code = docs_command(a.docs, s);
  else return false;
  return true;
}

}  // namespace moe
