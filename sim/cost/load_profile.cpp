#include "cost/load_profile.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "cost/load_comm.hpp"
#include "cost/load_gpu.hpp"
#include "cost/profile_fields.hpp"

namespace moe {
namespace {

/// One list of paths. A name must be new; where it is not, the second entry is reported and dropped.
template <class Path, class Bind>
void bind_paths(Fields& f, const std::string& key, std::map<std::string, Path>& into, const std::string& help,
                Bind bind) {
  std::map<std::string, int> lines;
  f.list(key, Need::optional, help, [&](Fields& item, std::size_t) {
    std::string name;
    Path path;
    item.text("path", name, Need::required, "engine-version/kernel/format, as a stack names it");
    bind(item, path);
    if (name.empty() || item.describing()) return;
    const auto [first, is_new] = lines.emplace(name, item.place("path").line);
    if (is_new)
      into[name] = std::move(path);
    else
      item.error("path", fmt::format("the path `{}` appears twice in `{}`", name, key),
                 fmt::format("keep one of the two; the first is on line {}", first->second));
  });
}

/// Attaches every table to its path.
void bind_all_residuals(Fields& f, Profile& profile) {
  f.list("residuals", Need::optional, "smooth corrections, one table per path", [&](Fields& item, std::size_t) {
    std::string section = "dense_gemm", name;
    ResidualTable table;
    bind_residuals(item, section, name, table);
    if (item.describing() || name.empty()) return;
    ResidualTable* into = nullptr;
    in_section(profile, section, [&](auto& paths) {
      if (const auto found = paths.find(name); found != paths.end()) into = &found->second.residuals;
    });
    if (into == nullptr)
      item.error("path", fmt::format("no path `{}` in `{}`", name, section), "a table corrects a path of this profile");
    else
      *into = std::move(table);
  });
}

/// The GPU's file, or "" when there is none.
std::string gpu_file(const std::string& profile_file, const std::string& gpu) {
  namespace fs = std::filesystem;
  const std::string name = gpu + ".yaml";
  const fs::path beside = fs::path(profile_file).parent_path() / ".." / "gpus" / name;
  if (fs::exists(beside)) return beside.lexically_normal().string();
  if (const char* data = std::getenv("MOE_SIM_DATA"); data != nullptr) {
    const fs::path installed = fs::path(data) / "calibration" / "gpus" / name;
    if (fs::exists(installed)) return installed.string();
  }
  return {};
}

}  // namespace

void bind_profile(Fields& f, Profile& profile, std::string& gpu) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file's format");
  f.text("gpu", gpu, Need::required, "name of a file in calibration/gpus, without .yaml");
  f.texts("provenance", profile.provenance, Need::required, "where the numbers come from, one sentence each");
  bind_paths(f, "dense_gemm", profile.dense_gemm, "y[m,n] = x[m,k] w[k,n]", bind_dense_gemm);
  bind_paths(f, "moe", profile.moe, "routed experts of one layer", bind_moe);
  bind_paths(f, "attention_decode", profile.attention, "decode attention cores, GQA and MLA", bind_attention);
  bind_paths(f, "mla_module", profile.mla_module, "whole MLA attention blocks: a check, charged nowhere", bind_mla_module);
  bind_paths(f, "elementwise_and_state", profile.elementwise, "casts, norms, state updates, batched products",
             bind_elementwise);
  bind_all_residuals(f, profile);
  f.list("inputs", Need::optional, "measurement files that were fitted", [&](Fields& g, std::size_t) {
    ProfileInput input;
    g.text("file", input.file, Need::required, "name in the folder");
    g.text("hash", input.hash, Need::required, "FNV-1a 64 of its bytes");
    g.integer("rows", input.rows, Need::required, Range::not_negative(), "measurements");
    profile.inputs.push_back(input);
  });
  f.section("comm", Need::optional, "communication costs, by transport", [&](Fields& g) { bind_comm(g, profile.comm); });
}

Profile load_profile(const std::string& file, Diagnostics& out) {
  Profile profile;
  profile.name = std::filesystem::path(file).stem().string();
  const Document document = load_document(file, out);
  std::string gpu;
  read_map(document.root, "", out, [&](Fields& f) {
    bind_profile(f, profile, gpu);
    if (gpu.empty()) return;
    const std::string found = gpu_file(file, gpu);
    if (found.empty())
      f.error("gpu", fmt::format("no GPU called `{}`", gpu), fmt::format("add calibration/gpus/{}.yaml", gpu));
    else
      profile.gpu = load_gpu(found, out);
  });
  return profile;
}

}  // namespace moe
