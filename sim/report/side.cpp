#include "report/side.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "config/json_file.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

double number(const Json& from, const char* key, const std::string& source) {
  const auto at = from.find(key);
  if (at == from.end() || !at->is_number())
    throw InputError(fmt::format("{}: `{}` is {}, so this is no result of `moe-sim run`", source, key,
                                 at == from.end() ? "missing" : "not a number"));
  return at->get<double>();
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string top_link(const Json& result) {
  const auto links = result.find("links");
  if (links == result.end() || links->empty()) return {};
  const Json& first = links->front();
  const double cost = first.value("cost_ms", 0.0);
  const std::string how = cost > 0 ? fmt::format("costs {} ms", significant(cost))
                                   : fmt::format("busy {:.1f} %", first.value("busy_share", 0.0) * 100);
  return first.value("link", std::string("?")) + ", " + how;
}

void read_paths(const Json& result, Side& side) {
  const auto paths = result.find("paths");
  if (paths == result.end()) return;
  for (const Json& p : *paths)
    side.paths.push_back({p.value("path", std::string()), p.value("time_ms", 0.0), p.value("spread", 0.0)});
}

Side read_result(const Json& r, const std::string& name, const std::string& source) {
  Side s;
  s.name = name;
  s.source = source;
  s.step_ms = number(r, "step_ms", source);
  s.tokens_per_s = number(r, "tokens_per_s", source);
  s.tokens_per_s_per_sequence = number(r, "tokens_per_s_per_sequence", source);
  if (s.step_ms <= 0 || s.tokens_per_s <= 0) throw InputError(source + ": `step_ms` and `tokens_per_s` must be above 0");
  s.low_ms = s.high_ms = s.step_ms;
  if (const auto i = r.find("interval90_ms"); i != r.end() && i->size() == 2) {
    s.low_ms = (*i)[0].get<double>();
    s.high_ms = (*i)[1].get<double>();
  }
  s.min_ms = r.value("theoretical_min_ms", 0.0);
  s.contention_ms = r.value("contention_ms", 0.0);
  s.kv_capacity_tokens = r.value("kv_capacity_tokens", 0.0);
  if (const auto m = r.find("memory_gib_per_gpu"); m != r.end())
    for (const Json& gib : *m) s.memory_gib = std::max(s.memory_gib, gib.get<double>());
  if (const auto b = r.find("breakdown_ms"); b != r.end())
    for (const auto& [key, value] : b->items()) s.breakdown_ms.emplace_back(key, value.get<double>());
  s.top_link = top_link(r);
  read_paths(r, s);
  if (const auto i = r.find("inputs"); i != r.end()) read_inputs(*i, s);
  return s;
}

}  // namespace

std::string Side::input(const std::string& key) const {
  for (const auto& [k, value] : inputs)
    if (k == key) return value;
  return {};
}

const SideFile* Side::file_of(const std::string& role) const {
  const std::string stem = fs::path(input(role)).stem().string();
  const std::string folder = role == "machine" ? "topologies" : role + "s";
  const SideFile* found = nullptr;
  for (const SideFile& f : files) {
    const fs::path path(f.file);
    if (path.stem() != stem) continue;
    if (found == nullptr || path.parent_path().filename() == folder) found = &f;
  }
  return found;
}

void read_inputs(const Json& inputs, Side& side) {
  if (const auto r = inputs.find("resolved"); r != inputs.end())
    for (const auto& [key, value] : r->items()) side.inputs.emplace_back(key, text_of(value));
  if (const auto f = inputs.find("files"); f != inputs.end())
    for (const Json& file : *f) side.files.push_back({file.value("file", std::string()), file.value("fnv1a", std::string())});
}

Side side_of(const Json& result, const std::string& name, const std::string& source) {
  try {
    return read_result(result, name, source);
  } catch (const nlohmann::json::exception& e) {
    throw InputError(fmt::format("{}: a key has the wrong kind of value ({})", source, e.what()));
  }
}

Side read_side(const std::string& file) {
  Diagnostics found;
  const Json result = load_json(file, found);
  if (found.has_errors()) throw InputError(std::move(found));
  const fs::path path(file);
  const std::string folder = fs::absolute(path).parent_path().filename().string();
  return side_of(result, path.stem() == "result" ? folder : path.stem().string(), file);
}

void make_names_unique(std::vector<Side>& sides) {
  std::vector<std::string> names;
  for (const Side& s : sides) names.push_back(s.name);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto here = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::count(names.begin(), names.end(), names[i]) > 1)
      sides[i].name = fmt::format("{} ({})", names[i], 1 + std::count(names.begin(), here, names[i]));
  }
}

}  // namespace moe
