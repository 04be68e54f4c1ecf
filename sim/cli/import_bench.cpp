// moe-sim import-bench: a user's benchmark output and server logs as the table that `validate` reads.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/import_commands.hpp"
#include "serving/row.hpp"

namespace moe {
namespace {

constexpr std::size_t kMostBytes = 512U << 20;

std::string text_of(const std::string& file, Diagnostics& found) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    found.error("this is a folder", {file, 0, 0, 1}, "", "name the files in it");
    return {};
  }
  if (const auto size = std::filesystem::file_size(file, ignored); !ignored && size > kMostBytes) {
    found.error("the file is larger than 512 MiB", {file, 0, 0, 1}, "",
                "cut the log to the minutes of the benchmark");
    return {};
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  if (!in) found.error("cannot read the file", {file, 0, 0, 1});
  return all.str();
}

/// Column by column what the command line says; wrong names and values are errors.
std::map<std::string, std::string> given_columns(const ImportBenchArguments& a) {
  std::map<std::string, std::string> given = a.columns;
  for (const auto& [column, value] : split_overrides(a.set)) given[column] = value;
  static const std::vector<std::string> fixed{"metric", "value"};
  for (const auto& [column, value] : given) {
    if (std::find(bench_columns().begin(), bench_columns().end(), column) == bench_columns().end())
      throw InputError(
          fmt::format("`{}` is not a column\n  = help: {}", column, suggestion(column, bench_columns())));
    if (std::find(fixed.begin(), fixed.end(), column) != fixed.end())
      throw InputError(fmt::format("`{}` is what is measured; it cannot be set", column));
    static const std::vector<std::string> numbers{
        "gpus", "tp", "ep", "dp", "pp", "dcp", "accept_len", "context_tokens", "concurrency"};
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (std::find(numbers.begin(), numbers.end(), column) != numbers.end() &&
        (value.empty() || *end != '\0' || !(number >= 0)))
      throw InputError(fmt::format("`{}={}`: expected a number", column, value));
  }
  return given;
}

void say_missing(const std::vector<BenchRow>& rows, const Streams& s) {
  static const std::map<std::string, std::string> flags{
      {"model", "--model"},       {"quant", "--quant"}, {"engine", "--engine"},
      {"rig", "--machine-text"},  {"gpus", "--gpus"},   {"tp", "--tp"},
      {"kv_dtype", "--kv-dtype"}, {"spec", "--spec"},   {"context_tokens", "--set context_tokens=N"}};
  std::string text;
  for (const auto& [column, flag] : flags) {
    const auto empty = std::count_if(rows.begin(), rows.end(),
                                     [&, key = column](BenchRow r) { return r.cells[key].empty(); });
    if (empty > 0) text += fmt::format("  {:<15} {:<24} {} of {} rows\n", column, flag, empty, rows.size());
  }
  if (!text.empty()) s.err << "not said by the files, give it where you know it:\n" << text;
}

std::string stem(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace

int import_bench_command(const ImportBenchArguments& a, const Streams& s) {
  const std::map<std::string, std::string> given = given_columns(a);
  Diagnostics all;
  std::vector<BenchFile> files;
  std::map<std::string, std::string> arguments;  // of files that hold nothing but an engine's arguments
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  for (const std::string& file : a.files) {
    Diagnostics found;
    const std::string text = text_of(file, found);
    files.push_back(found.has_errors() ? BenchFile{} : read_bench(text, file, {a.mean, a.anyway}, found));
    if (files.back().rows.empty()) arguments.insert(files.back().facts.begin(), files.back().facts.end());
    for (Diagnostic d : found.all()) {
      if (d.is_error || !files.back().rows.empty())
        left_out.push_back({{"file", file}, {"reason", d.message}});
    }
    all.merge(found);
  }
  std::vector<BenchRow> rows;
  for (std::size_t f = 0; f < files.size(); ++f) {
    int count = 0;
    for (BenchRow row : files[f].rows) {
      for (const auto& [column, value] : files[f].facts) row.fill(column, value);
      for (const auto& [column, value] : arguments) row.fill(column, value);
      for (const auto& [column, value] : given) row.cells[column] = value;
      row.fill("id", fmt::format("{}-{:03}", stem(a.files[f]), ++count));
      row.fill("source_url", std::filesystem::path(a.files[f]).filename().string());
      rows.push_back(row);
    }
  }
  if (rows.empty()) {
    if (!all.has_errors())
      all.error("these files hold an engine's arguments, no measurement", {a.files[0], 0, 0, 1}, "",
                "give them together with the results");
    throw InputError(all);
  }
  s.err << all.render(true) << all.render(false);
  say_missing(rows, s);
  if (a.json) {
    nlohmann::ordered_json out{
        {"schema", 1}, {"rows", nlohmann::ordered_json::array()}, {"left_out", left_out}};
    for (const BenchRow& r : rows) out["rows"].push_back(r.cells);
    s.out << out.dump(2) << "\n";
  }
  if (a.out.empty()) {
    if (!a.json) s.out << bench_csv(rows);
    return kAnswered;
  }
  std::ofstream file(a.out, std::ios::binary);
  file << bench_csv(rows);
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", a.out));
  s.err << fmt::format("wrote {}: {} rows; next: moe-sim validate {}\n", a.out, rows.size(), a.out);
  return kAnswered;
}

}  // namespace moe
