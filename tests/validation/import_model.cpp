// Configs as published, beside a checkout: those of models that models/ has must give the same parameters, the same KV
// bytes and the same formats; the others must import to their published size, or be refused for a reason.
#include "import/import.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/table.hpp"
#include "catch.hpp"
#include "config/json_file.hpp"
#include "model/load.hpp"
#include "model/sizes.hpp"
#include "repository.hpp"

namespace moe {
namespace {

namespace fs = std::filesystem;

struct Sample {
  const char* file;        ///< how its name starts
  const char* model;       ///< of models/
  const char* checkpoint;  ///< whose formats must be the same; "": none is comparable
};
constexpr Sample kKnown[] = {
    {"01-", "kimi-k2.5", "int4"},           {"02-", "kimi-k2-thinking", "fp8"},      {"03-", "kimi-k2.5", "nvfp4"},
    {"06-", "glm-5", ""},                   {"07-", "glm-5.1", ""},                  {"08-", "glm-5.2", ""},
    {"10-", "glm-5", "nvfp4"},              {"12-", "minimax-m2.5", "fp8"},          {"15-", "minimax-m2.5", "nvfp4"},
    {"16-", "deepseek-v3", "fp8"},          {"18-", "deepseek-v4-flash", "mxfp4"},   {"21-", "deepseek-v4-flash", "nvfp4"},
    {"22-", "deepseek-v3", "nvfp4"},        {"23-", "qwen3-30b-a3b", "bf16"},        {"25-", "qwen3-235b-a22b", "nvfp4"},
    {"28-", "qwen3.5-397b-a17b", "bf16"},   {"30-", "qwen3.5-122b-a10b", "nvfp4"},   {"32-", "mixtral-8x7b", "bf16"},
    {"34-", "gpt-oss-120b", "mxfp4"},       {"35-", "gpt-oss-20b", "mxfp4"},         {"36-", "llama-4-maverick", "bf16"},
    {"37-", "llama-4-scout", "bf16"},       {"38-", "nemotron-3-nano-30b", "bf16"},  {"39-", "nemotron-3-super-120b", ""},
    {"40-", "nemotron-3-nano-30b", "nvfp4"}, {"50-", "qwen3-235b-a22b", "fp8"}};

struct Published {
  const char* file;
  double billions;  ///< of the model card
};
constexpr Published kOthers[] = {{"26-", 480}, {"29-", 35}, {"31-", 35}, {"33-", 141}, {"48-", 80}, {"54-", 3.8}, {"61-", 6.9}};

std::string folder() { return test::shared().empty() ? "" : test::shared() + "/samples/hf_config"; }

std::string find_file(const std::string& start, const std::string& end) {
  for (const auto& e : fs::directory_iterator(folder()))
    if (const std::string name = e.path().filename(); name.starts_with(start) && name.ends_with(end)) return e.path();
  return {};
}

nlohmann::ordered_json json_of(const std::string& file) {
  Diagnostics found;
  nlohmann::ordered_json value = load_json(file, found);
  if (found.has_errors()) throw InputError(std::move(found));
  return value;
}

Imported import_sample(const std::string& start) {
  std::string file = find_file(start, ".config.json");
  if (file.empty()) file = find_file(start, ".json");
  const std::string extra = find_file(start, ".hf_quant_config.json");
  const nlohmann::ordered_json config = json_of(file), quantisation = extra.empty() ? nlohmann::ordered_json() : json_of(extra);
  return import_model(config, extra.empty() ? nullptr : &quantisation, {fs::path(file).filename(), "x", extra});
}

bool absent() {
  const std::string at = folder();
  if (!at.empty() && fs::is_directory(at)) return false;
  WARN("no published configs beside this checkout: skipped");
  return true;
}

}  // namespace

TEST_CASE("Published configs give the sizes of our model files", "[validation]") {
  if (absent()) return;
  for (const Sample& s : kKnown) {
    INFO(s.file << " " << s.model << " " << s.checkpoint);
    Diagnostics found;
    const Model ours = load_model(test::root() + "/models/" + s.model + ".yaml", found);
    const Imported i = import_sample(s.file);
    const ParameterCount a = count_parameters(i.model), b = count_parameters(ours);
    CHECK(total(a.main) == total(b.main));
    CHECK(total(a.mtp) == total(b.mtp));
    CHECK(a.active_body == b.active_body);
    for (const KvDtype d : {KvDtype::bf16, KvDtype::fp8}) {
      CHECK(kv_size(i.model, d).bytes_per_token == kv_size(ours, d).bytes_per_token);
      CHECK(kv_bytes(i.model, d, 100000) == kv_bytes(ours, d, 100000));
    }
    CHECK(i.not_understood.empty());
    CHECK(i.unmapped.empty());
    for (const Checkpoint& c : ours.checkpoints) {
      if (c.id != s.checkpoint) continue;
      const Checkpoint& mine = i.model.checkpoints[0];
      CHECK(mine.id == c.id);
      CHECK(total(checkpoint_bytes(i.model, mine).main) == Approx(total(checkpoint_bytes(ours, c).main)));
      CHECK(total(checkpoint_bytes(i.model, mine).mtp) == Approx(total(checkpoint_bytes(ours, c).mtp)));
      CHECK(mine.activation == c.activation);
      CHECK(mine.kv_dtype == c.kv_dtype);
    }
  }
}

TEST_CASE("Published configs of other models have the size of their card", "[validation]") {
  if (absent()) return;
  for (const Published& p : kOthers) {
    INFO(p.file);
    const Imported i = import_sample(p.file);
    CHECK(total(count_parameters(i.model).main) * 1e-9 == Approx(p.billions).epsilon(0.015));
  }
}

TEST_CASE("Excerpts import to the size of their card once what they lack is added", "[validation]") {
  if (absent()) return;
  struct Excerpt {
    const char* file;
    const char* patch;
    double billions;
  };
  const Excerpt all[] = {{"66-", R"({"max_position_embeddings": 131072})", 21.8},
                         {"67-", R"({"max_position_embeddings": 4096, "tie_word_embeddings": true})", 1.3},
                         {"62-", R"({"quantization": null})", 132}};
  for (const Excerpt& e : all) {
    INFO(e.file);
    nlohmann::ordered_json config = json_of(find_file(e.file, ".json"));
    config.merge_patch(nlohmann::ordered_json::parse(e.patch));
    const Imported i = import_model(config, nullptr, {"config.json", "x", ""});
    CHECK(total(count_parameters(i.model).main) * 1e-9 == Approx(e.billions).epsilon(0.03));
  }
}

TEST_CASE("Published configs that cannot be expressed say why", "[validation]") {
  if (absent()) return;
  for (const char* start : {"05-", "14-", "42-", "43-", "46-", "51-", "57-", "58-", "60-", "62-", "65-"}) {
    INFO(start);
    CHECK_THROWS_AS(import_sample(start), Infeasible);
  }
  for (const char* start : {"66-", "67-"}) {  // excerpts without a longest context
    INFO(start);
    CHECK_THROWS_AS(import_sample(start), InputError);
  }
}

}  // namespace moe
