// moe-sim fit: the part about communication, from the collective.csv of the folders.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/hash.hpp"
#include "cli/fit_commands.hpp"
#include "cli/network.hpp"
#include "cost/load_profile.hpp"
#include "fit/comm_section.hpp"
#include "fit/comm_setups.hpp"
#include "fit/write_profile.hpp"

namespace moe {
namespace {

CommCost comm_of_base(const std::string& file) {
  if (file.empty()) return {};
  Diagnostics out;
  CommCost cost = load_profile(file, out).comm;
  if (out.has_errors()) throw InputError(out);
  return cost;
}

std::string hash_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return hex64(fnv1a(std::string{std::istreambuf_iterator<char>(in), {}}));
}

/// One machine for all rows of NCCL, which are of several paths: which, and what to write instead.
void warn_mixed_paths(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups, const std::string& machine,
                      const Streams& s) {
  if (setups.size() != 1 || !setups.front().path.ends_with("*")) return;
  std::map<std::string, int> paths;
  for (const CommRow& r : rows)
    if (setups.front().covers(r)) ++paths[r.path];
  if (paths.size() < 2) return;
  std::string list, lines;
  for (const auto& [path, count] : paths) {
    list += fmt::format("{}`{}` ({} rows)", list.empty() ? "" : ", ", path, count);
    lines += fmt::format("      - {{path: {}, machine: {}}}\n", path, machine);
  }
  s.err << fmt::format("warning: rows of {} are all taken as measured on `{}`, but paths differ in transport or version\n"
                       "  = help: write a file and give it to --machine, each path with its own machine, without those "
                       "that do not belong:\n      schema: 1\n      setups:\n{}", list, machine, lines);
}

}  // namespace

bool has_collectives(const std::string& folder) { return std::filesystem::exists(folder + "/collective.csv"); }

std::string comm_section(const FitArguments& a, Profile& profile, const Streams& s) {
  if (a.machine.empty()) {
    for (const std::string& folder : a.folders)
      if (has_collectives(folder))
        s.err << fmt::format("warning: `{}/collective.csv` is not fitted: say on which machine it was measured "
                             "(--machine)\n", folder);
    return a.base.empty() ? "" : comm_text(a.base);
  }
  const std::vector<CommSetup> setups = load_setups(a.machine, machine_named);
  Diagnostics found;
  std::vector<CommRow> rows;
  for (const std::string& folder : a.folders) {
    if (!has_collectives(folder)) continue;
    const std::string file = folder + "/collective.csv";
    const std::vector<CommRow> some = read_collectives(file, found);
    if (found.has_errors()) throw InputError(found);
    rows.insert(rows.end(), some.begin(), some.end());
    const std::string prefix =
        a.folders.size() == 1 ? "" : std::filesystem::path(folder + "/").parent_path().filename().string() + "/";
    profile.inputs.push_back({prefix + "collective.csv", hash_of(file), static_cast<int>(some.size())});
  }
  warn_mixed_paths(rows, setups, a.machine, s);
  profile.provenance.push_back(fmt::format("communication fitted from collective.csv, measured on {}",
                                           std::filesystem::path(a.machine).filename().string()));
  const CommFit fit = fit_comm_section(rows, setups, comm_of_base(a.base));
  s.out << "communication, median / p90 error in percent (rows)\n\n" << fit.report;
  return comm_yaml(fit);
}

}  // namespace moe
