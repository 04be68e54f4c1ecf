#include "import/import.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "import/families.hpp"
#include "import/quantisation.hpp"
#include "model/load.hpp"

namespace moe {
namespace {

/// Comments on top of the file: where it is from, what was assumed, what was not understood.
std::vector<std::string> notes_of(const Imported& i, const ImportNames& names) {
  std::vector<std::string> out;
  out.push_back(fmt::format("{}: imported from {} by moe-sim import-model.", i.model.name, names.config_file));
  for (const std::string& a : i.assumed) out.push_back("assumed: " + a);
  for (const std::string& k : i.not_understood) out.push_back("not understood: " + k);
  for (const std::string& p : i.unmapped) out.push_back("not mapped to a tensor class: quantisation pattern " + p);
  return out;
}

/// The text must mean what was built: read it back.
void read_back(Imported& i) {
  Diagnostics found;
  i.model = parse_model(i.yaml, i.model.name + ".yaml", found);
  if (found.has_errors()) throw InputError(std::move(found));
  for (const Diagnostic& d : found.all()) i.assumed.push_back("the written file: " + d.message);
}

using Json = nlohmann::ordered_json;

Imported import_checked(const Json& config, const Json* extra, const ImportNames& names) {
  Diagnostics found;
  HfConfig c(config, names.config_file, found);
  if (config.contains("quantization") && !config.contains("vocab_size") && !config.contains("text_config"))
    throw InputError(fmt::format("{} describes a quantisation, not a model\n  = help: give config.json first, "
                                 "hf_quant_config.json second", names.config_file));
  const Family& family = family_of(c);
  Imported i;
  i.model.name = names.name;
  i.model.architecture = family.name;
  i.model.repository = c.text("_name_or_path");
  if (i.model.repository.empty()) {
    i.model.repository = names.name;
    c.assume("the config does not say its repository: named after the file");
  }
  i.model.sources = {names.config_file};
  if (!names.extra_file.empty()) i.model.sources.push_back(names.extra_file);
  family.build(c, i.model);
  const Scheme scheme = read_scheme(extra, c);
  if (found.has_errors()) throw InputError(std::move(found));
  Checkpoint checkpoint = apply_scheme(scheme, family, i.model, c, i.unmapped);
  checkpoint.repository = i.model.repository;
  checkpoint.has_vision = !c.has_vision();
  i.model.checkpoints.push_back(std::move(checkpoint));
  i.assumed = c.assumptions();
  i.not_understood = c.not_understood();
  i.yaml = model_yaml(i.model, notes_of(i, names));
  read_back(i);
  return i;
}

}  // namespace

Imported import_model(const Json& config, const Json* extra, const ImportNames& names) {
  try {
    return import_checked(config, extra, names);
  } catch (const Json::exception& e) {  // a value of another kind where a dialect of quantisation has one
    throw InputError(fmt::format("{}: a key has the wrong kind of value ({})", names.config_file, e.what()));
  }
}

}  // namespace moe
