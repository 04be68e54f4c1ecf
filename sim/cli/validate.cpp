// moe-sim validate MEASUREMENTS.csv: every row simulated and compared with what was measured.
#include <fmt/core.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/study_commands.hpp"
#include "experiment/files.hpp"
#include "validate/view.hpp"

namespace moe {
namespace {

constexpr const char* kMappings = "calibration/mappings";

std::string mapping_file(const std::string& name) {
  const std::string found = find_data(kMappings, name.empty() ? "decode" : name, "");
  if (found.empty())
    throw InputError(fmt::format("no mapping `{}`\n  = help: {}", name.empty() ? "decode" : name, suggestion(name, data_names(kMappings, ""))));
  return found;
}

int show(const Mapping& mapping, const CsvTable& table, const std::string& id, const Streams& s) {
  for (const CsvRow& row : table.rows) {
    if (table.text(row, "id") != id) continue;
    std::string reason;
    const std::string text = experiment_of(mapping, table, row, reason);
    if (!reason.empty()) throw Infeasible("unmapped", fmt::format("{} has no experiment: {}", id, reason));
    s.out << fmt::format("# {} of {}:{}, as {} reads it\n", id, table.file, row.line, mapping.file) << text;
    return kAnswered;
  }
  throw InputError(fmt::format("no row `{}` in {}", id, table.file));
}

/// One line on a terminal, nothing elsewhere.
void progress(std::size_t done, std::size_t all, const Streams& s) {
  if (done % 16 != 0 && done != all) return;
  s.err << fmt::format("\r  {}/{} rows", done, all) << (done == all ? "\n" : "") << std::flush;
}

}  // namespace

int validate_command(const ValidateArguments& a, const Streams& s) {
  Diagnostics said;
  const Mapping mapping = load_mapping(mapping_file(a.mapping), said);
  CsvTable table;
  if (!said.has_errors()) table = read_csv(a.file, mapping.columns, said);
  if (said.has_errors()) throw InputError(std::move(said));
  s.err << said.render(false);
  if (!a.show.empty()) return show(mapping, table, a.show, s);
  ValidateOptions options;
  options.threads = a.threads;
  if (isatty(STDERR_FILENO) != 0) options.progress = [&](std::size_t done, std::size_t all) { progress(done, all, s); };
  const Validation v = validate(mapping, table, options);
  if (!a.csv.empty()) write_text_file(a.csv, validation_csv(v));
  if (a.json) s.out << validation_json(v).dump(2) << "\n";
  else s.out << validation_text(v);
  return kAnswered;
}

}  // namespace moe
