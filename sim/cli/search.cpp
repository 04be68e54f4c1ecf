// moe-sim search EXPERIMENT: which plan is best; moe-sim plot DB: a metric of a sweep as a picture.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/study_commands.hpp"
#include "search/view.hpp"
#include "sweep/plot.hpp"
#include "sweep/progress.hpp"

namespace moe {
namespace {

SearchRequest request_of(const SearchArguments& a) {
  SearchRequest r;
  r.file = a.experiment;
  r.set = split_overrides(a.set);
  if (!a.context.empty()) r.set.emplace_back("batch.context", a.context);
  r.axes = a.axes;
  if (!a.batch.empty()) r.axes.push_back("batch.sequences=" + a.batch);
  r.max_tpot_ms = a.max_tpot_ms;
  r.min_user_tokens_per_s = a.min_user;
  r.min_concurrency = a.min_concurrency;
  r.threads = a.threads;
  return r;
}

}  // namespace

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", path));
}

int search_command(const SearchArguments& a, const Streams& s) {
  if (!a.db.empty() && std::filesystem::exists(a.db))
    throw InputError(fmt::format("`{}` exists\n  = help: a search is not resumed; name another --db, or remove the file", a.db));
  std::optional<Store> store;
  std::optional<ProgressLine> line;
  double done = 0;
  const SearchResult r = search(request_of(a), [&](const Study& study) {
    if (!a.db.empty()) store.emplace(a.db), store->begin(study);
    line.emplace(s.err, isatty(STDERR_FILENO) != 0, static_cast<double>(study.grid.size()), 0);
  }, [&](const std::vector<Row>& rows) {
    if (store) store->add(rows);
    line->update(done += static_cast<double>(rows.size()));
  });
  line->clear();
  if (store) store->close();
  if (a.json) s.out << search_json(r).dump(2) << "\n";
  else s.out << search_text(r);
  if (!a.plot.empty()) write_text_file(a.plot, chart_svg(pareto_chart(r), true));
  if (!a.json && a.plot.empty()) s.out << fmt::format("next   moe-sim search {} --plot pareto.svg --db all.db\n", a.experiment);
  return r.all.empty() ? kNoAnswer : kAnswered;
}

int plot_command(const PlotArguments& a, const Streams& s) {
  if (!std::filesystem::exists(a.db)) throw InputError(fmt::format("no file `{}`\n  = help: moe-sim sweep EXPERIMENT --axis ... --db {}", a.db, a.db));
  const Store store(a.db);
  if (!store.has_study()) throw InputError(fmt::format("`{}` holds no sweep", a.db));
  PlotRequest r;
  r.x = a.x, r.y = a.y, r.by = a.by, r.where = a.where;
  r.log_x = a.log_x, r.log_y = a.log_y, r.linear = a.linear;
  const Chart chart = plot_chart(store, r);
  if (a.out.empty()) s.out << chart_text(chart);
  else write_text_file(a.out, chart_svg(chart, true));
  return kAnswered;
}

}  // namespace moe
