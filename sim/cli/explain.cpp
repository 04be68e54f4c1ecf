// moe-sim explain [KEY]: what a key means, from the declarations that read the files, and the keys of result.json.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/declarations.hpp"
#include "report/keys.hpp"
#include "sweep/mpi.hpp"

namespace moe {
namespace {

struct Group {
  std::string file;
  std::vector<FieldInfo> fields;
};

std::vector<Group> declarations() {
  std::vector<Group> out;
  for (Declarations& d : all_declarations()) out.push_back({d.kind, std::move(d.fields)});
  Group result{"result.json", {}};
  for (const ResultKey& r : result_keys()) result.fields.push_back({r.key, r.unit, "", r.meaning, false, false});
  out.push_back(std::move(result));
  return out;
}

std::string last_word(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

}  // namespace

int explain_command(const std::string& key, const Streams& s) {
  std::vector<std::string> known;
  TextTable table("lllll");
  table.row({"file", "key", "type", "default", "meaning"});
  bool found = false;
  for (const Group& g : declarations())
    for (const FieldInfo& f : g.fields) {
      if (std::find(known.begin(), known.end(), last_word(f.path)) == known.end()) known.push_back(last_word(f.path));
      if (!key.empty() && f.path != key && last_word(f.path) != key) continue;
      found = true;
      table.row({g.file, f.path, f.type, f.required ? "required" : f.value, f.help});
    }
  if (!found) throw InputError(fmt::format("no key `{}`\n  = help: {}", key, suggestion(key, known)));
  s.out << table.render("");
  return kAnswered;
}

std::string version_text() { return std::string("moe-sim " MOE_SIM_VERSION ", data schema 1") + (has_mpi() ? ", MPI" : ""); }

}  // namespace moe
