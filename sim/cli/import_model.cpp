// moe-sim import-model CONFIG [HF_QUANT_CONFIG]: a Hugging Face config as a model file.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "config/json_file.hpp"
#include "import/import.hpp"

namespace moe {
namespace {
namespace fs = std::filesystem;

nlohmann::ordered_json read_or_throw(const std::string& file) {
  Diagnostics found;
  nlohmann::ordered_json value = load_json(file, found);
  if (found.has_errors()) throw InputError(std::move(found));
  return value;
}

/// --name, else the file that is written, else "x" of x.config.json, else the folder of config.json.
std::string name_of(const ImportArguments& a) {
  if (!a.name.empty()) return a.name;
  if (!a.out.empty()) return fs::path(a.out).stem().string();
  const std::string stem = fs::path(a.config).stem().string();
  if (stem == "config") {
    const std::string folder = fs::absolute(a.config).parent_path().filename().string();
    return folder.empty() ? "imported" : folder;
  }
  return stem.ends_with(".config") ? stem.substr(0, stem.size() - 7) : stem;
}

/// The second file, or the one of that name beside the first.
std::string extra_of(const ImportArguments& a, const Streams& s) {
  if (!a.quantisation.empty()) return a.quantisation;
  const fs::path beside = fs::path(a.config).parent_path() / "hf_quant_config.json";
  std::error_code ignored;
  if (!fs::is_regular_file(beside, ignored)) return {};
  s.err << fmt::format("note: `{}` is read too\n", beside.string());
  return beside.string();
}

}  // namespace

int import_model_command(const ImportArguments& a, const Streams& s) {
  const std::string extra = extra_of(a, s);
  const nlohmann::ordered_json config = read_or_throw(a.config);
  nlohmann::ordered_json quantisation;
  if (!extra.empty()) quantisation = read_or_throw(extra);
  const auto file_name = [](const std::string& path) { return path.empty() ? path : fs::path(path).filename().string(); };
  const Imported i = import_model(config, extra.empty() ? nullptr : &quantisation, {file_name(a.config), name_of(a), file_name(extra)});
  if (!a.out.empty()) {
    std::ofstream file(a.out);
    file << i.yaml;
    file.close();
    if (!file) throw InputError(fmt::format("cannot write `{}`", a.out));
  }
  if (a.json) s.out << import_json(i).dump(2) << "\n";
  else if (a.out.empty()) s.out << i.yaml;
  (a.json || a.out.empty() ? s.err : s.out) << import_summary(i);
  if (!a.out.empty() && !a.json) s.out << fmt::format("next     moe-sim check {}\n", a.out);
  return kAnswered;
}

}  // namespace moe
