// moe-sim sweep EXPERIMENT --axis ...: every combination, kept in a SQLite file; moe-sim merge: shards into one file.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/study_commands.hpp"
#include "sweep/export.hpp"
#include "sweep/mpi.hpp"
#include "sweep/progress.hpp"
#include "sweep/runner.hpp"

namespace moe {
namespace {

struct Shard {
  std::uint64_t number = 1, of = 1;
};

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  const Parsed i = parse_number(text.substr(0, slash));
  const Parsed n = slash == std::string::npos ? Parsed{0, "none", {}} : parse_number(text.substr(slash + 1));
  if (!i.problem.empty() || !n.problem.empty() || n.value < 1 || i.value < 1 || i.value > n.value)
    throw InputError(fmt::format("`--shard {}` is not i/n\n  = help: with three jobs write 1/3, 2/3 and 3/3", text));
  return {static_cast<std::uint64_t>(i.value), static_cast<std::uint64_t>(n.value)};
}

Store open_store(const SweepArguments& a, const Study& study) {
  Store store(a.db);
  if (!store.has_study()) {
    store.begin(study);
    return store;
  }
  store.expect_same(study);
  if (!a.resume)
    throw InputError(fmt::format("`{}` exists\n  = help: --resume computes what is missing in it; or name another --db, or remove the file", a.db));
  return store;
}

std::vector<std::uint64_t> missing_points(const Store& store, const Shard& shard) {
  const std::vector<bool> done = store.done();
  std::vector<std::uint64_t> todo;
  for (std::uint64_t i = 0; i < done.size(); ++i)
    if (!done[i] && i % shard.of == shard.number - 1) todo.push_back(i);
  return todo;
}

void export_files(const Store& store, const std::string& csv, const std::string& json) {
  auto write = [&](const std::string& path, auto writer) {
    if (path.empty()) return;
    std::ofstream file(path);
    writer(store, file);
    file.close();
    if (!file) throw InputError(fmt::format("cannot write `{}`", path));
  };
  write(csv, [](const Store& s, std::ostream& o) { write_csv(s, o); });
  write(json, [](const Store& s, std::ostream& o) { write_json(s, o); });
}

void compute(const Study& study, const std::vector<std::uint64_t>& todo, Store& store, const SweepArguments& a, const Streams& s) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const double total = static_cast<double>(store.total()), before = static_cast<double>(store.progress().done);
  ProgressLine line(s.err, terminal, total, before);
  double done = before;
  const RowSink sink = [&](std::vector<Row>&& rows) {
    store.add(rows);
    line.update(done += static_cast<double>(rows.size()));
  };
  CaseCache cache;
  RunnerOptions options;
  options.threads = a.threads;
  if (mpi_ranks() > 1) mpi_hand_out(todo, sink);
  else run_points(study, todo, cache, sink, options);
  line.clear();
}

int finish(const Store& store, const SweepArguments& a, const Streams& s) {
  export_files(store, a.csv, a.json_file);
  const Progress p = store.progress();
  if (a.json) write_json(store, s.out);
  else s.out << sweep_text(store);
  if (!a.json && !a.db.empty())
    s.out << fmt::format("next   moe-sim plot {0} --x {1} --y tokens_per_s --out plot.svg   or   moe-sim report {0} --out report.html\n",
                         a.db, store.axis_keys().back());
  if (p.failed > 0) s.err << fmt::format("{} points failed by a bug in moe-sim; their `reason` says how\n", p.failed);
  return p.failed > 0 ? kBug : p.done == p.infeasible && p.done > 0 ? kNoAnswer : kAnswered;
}

}  // namespace

int sweep_command(const SweepArguments& a, const Streams& s) {
  const MpiSession session;  // does nothing unless mpirun started us
  const Study study = read_study(a.experiment, split_overrides(a.set), a.axes);
  if (mpi_rank() > 0) {
    RunnerOptions options;
    options.threads = a.threads;
    mpi_work(study, options);
    return kAnswered;
  }
  Store store = open_store(a, study);
  compute(study, missing_points(store, parse_shard(a.shard)), store, a, s);
  store.close();
  return finish(store, a, s);
}

int merge_command(const MergeArguments& a, const Streams& s) {
  if (a.from.empty()) throw InputError("nothing to merge\n  = help: moe-sim merge all.db part1.db part2.db");
  for (const std::string& path : a.from)
    if (!std::filesystem::exists(path)) throw InputError(fmt::format("no file `{}`", path));
  if (!std::filesystem::exists(a.into)) {
    std::filesystem::copy_file(a.from[0], a.into);
  }
  Store into(a.into);
  std::uint64_t added = 0;
  for (const std::string& path : a.from) added += into.merge(Store(path));
  into.close();
  const Progress p = into.progress();
  s.out << fmt::format("{}: {} rows added, {} of {} points\n", a.into, added, p.done, p.total);
  export_files(into, a.csv, a.json_file);
  return kAnswered;
}

}  // namespace moe
