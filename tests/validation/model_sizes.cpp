// Do the sizes that we derive agree with what publishers and engine logs say?
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "catch.hpp"
#include "config/document.hpp"
#include "model/load.hpp"
#include "model/sizes.hpp"

using namespace moe;
namespace fs = std::filesystem;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Every model of this repository, by name.
const std::map<std::string, Model>& models() {
  static const std::map<std::string, Model> all = [] {
    std::map<std::string, Model> read;
    Diagnostics found;
    for (const auto& entry : fs::directory_iterator(fs::path(MOE_SIM_SOURCE_DIR) / "models")) {
      if (entry.path().extension() != ".yaml") continue;
      Model model = load_model(entry.path().string(), found);
      read.emplace(model.name, std::move(model));
    }
    if (!found.all().empty()) throw InputError(found);
    return read;
  }();
  return all;
}

double percent(double ours, double theirs) { return 100 * (ours / theirs - 1); }

/// KV cache of the whole model. Bytes per token grow with the context; fixed is window or state, bf16.
struct KvCase {
  const char* model;
  double bf16, fp8, fixed;
};

// MLA: layers x 2 (512 + 64); fp8 layers x 576. With DSA: 1152 + 132 and 656 + 132 per layer. GQA: layers x 2
// x KV heads x width x bytes.
const KvCase kKvCases[] = {
    {"kimi-k2.5", 61 * 1152, 61 * 576, 0},
    {"kimi-k2-thinking", 61 * 1152, 61 * 576, 0},
    {"deepseek-v3", 61 * 1152, 61 * 576, 0},
    {"deepseek-v3.2", 61 * (1152 + 132), 61 * (656 + 132), 0},
    {"glm-5", 78 * (1152 + 132), 78 * (656 + 132), 0},
    {"glm-5.1", 78 * (1152 + 132), 78 * (656 + 132), 0},
    {"glm-5.2", 78 * 1152 + 21 * 132, 78 * 656 + 21 * 132, 0},  // 21 layers have an indexer cache
    {"glm-4.7", 92 * 2 * 8 * 128 * 2, 92 * 2 * 8 * 128, 0},
    {"glm-4.5-air", 46 * 2 * 8 * 128 * 2, 46 * 2 * 8 * 128, 0},
    {"minimax-m2.5", 62 * 2 * 8 * 128 * 2, 62 * 2 * 8 * 128, 0},
    {"qwen3-235b-a22b", 94 * 2 * 4 * 128 * 2, 94 * 2 * 4 * 128, 0},
    {"qwen3-30b-a3b", 48 * 2 * 4 * 128 * 2, 48 * 2 * 4 * 128, 0},
    {"mixtral-8x7b", 32 * 2 * 8 * 128 * 2, 32 * 2 * 8 * 128, 0},
    // Three of four layers are delta nets: 64 x 128 x 128 fp32, and 3 inputs of 12288 channels in bf16.
    {"qwen3.5-397b-a17b", 15 * 2 * 2 * 256 * 2, 15 * 2 * 2 * 256, 45.0 * (4194304 + 73728)},
    {"qwen3.5-122b-a10b", 12 * 2 * 2 * 256 * 2, 12 * 2 * 2 * 256, 36.0 * (4194304 + 73728)},
    // Every second layer has a window of 128 tokens.
    {"gpt-oss-120b", 18 * 2 * 8 * 64 * 2, 18 * 2 * 8 * 64, 18.0 * 2048 * 128},
    {"gpt-oss-20b", 12 * 2 * 8 * 64 * 2, 12 * 2 * 8 * 64, 12.0 * 2048 * 128},
    // Three of four layers are limited to blocks of 8192 tokens.
    {"llama-4-scout", 12 * 2 * 8 * 128 * 2, 12 * 2 * 8 * 128, 36.0 * 4096 * 8192},
    {"llama-4-maverick", 12 * 2 * 8 * 128 * 2, 12 * 2 * 8 * 128, 36.0 * 4096 * 8192},
    // 12 full layers, 33 with a window of 512.
    {"step-3.5-flash", 12 * 2 * 8 * 128 * 2, 12 * 2 * 8 * 128, 33.0 * 4096 * 512},
    // Mamba2: heads x 64 x 128 fp32, and 3 inputs of heads x 64 + 2048 channels in bf16.
    {"nemotron-3-nano-30b", 6 * 1024, 6 * 512, 23.0 * (64 * 64 * 128 * 4 + (64 * 64 + 2048) * 3 * 2)},
    {"nemotron-3-super-120b", 8 * 1024, 8 * 512, 40.0 * (128 * 64 * 128 * 4 + (128 * 64 + 2048) * 3 * 2)},
    {"nemotron-3-ultra-550b", 12 * 1024, 12 * 512, 48.0 * (256 * 64 * 128 * 4 + (256 * 64 + 2048) * 3 * 2)},
    // 21 layers keep a row per 4 tokens and an indexer key, 20 a row per 128; all keep 128 raw rows.
    {"deepseek-v4-flash", 21 * (1024 + 132) / 4.0 + 20 * 1024 / 128.0,
     21 * (584 + 132) / 4.0 + 20 * 584 / 128.0, 43.0 * 128 * 1024},
};

/// KV cache as engines allocated it: bytes for so many tokens on one GPU, which holds 1/share of a token's
/// cache.
struct KvLog {
  const char* model;
  KvDtype dtype;
  double gib, tokens, share;
  const char* source;
};

const KvLog kKvLogs[] = {
    {"kimi-k2-thinking", KvDtype::fp8, 5.90, 180191, 1, "SGLang log, TP8; the latent is on every rank"},
    {"glm-5.1", KvDtype::fp8, 19.55, 341504, 1, "vLLM log, TP8; the latent is on every rank"},
    {"minimax-m2.5", KvDtype::bf16, 23.62, 399424, 4, "vLLM log, TP4"},
    {"glm-4.7", KvDtype::bf16, 18.96, 864247, 16, "SGLang log, TP8, keys only: half of 1/8"},
};

}  // namespace

TEST_CASE("every model file is read without a word", "[validation]") { CHECK(models().size() >= 24); }

TEST_CASE("parameter counts agree with every published count that is held", "[validation]") {
  std::string rounded;
  int held = 0;
  for (const auto& [name, model] : models()) {
    const ParameterCount count = count_parameters(model);
    for (const PublishedCount& p : model.published) {
      const double ours = *count_named(count, p.what) / 1e9;
      const double off = percent(ours, p.billions);
      INFO(fmt::format("{} {}: {:.3f} B, published {} B ({})", name, p.what, ours, p.billions, p.source));
      if (!p.gate) {
        rounded += fmt::format("  {:<21} {:<22} {:8.3f}  says {:6.1f} {:+.2f} %\n", name, p.what, ours,
                               p.billions, off);
        continue;
      }
      ++held;
      CHECK(p.tolerance_pct <= 1);
      CHECK(std::abs(off) <= p.tolerance_pct);
    }
  }
  CHECK(held >= 39);
  WARN("published counts that are not held (two digits, or explained in the file):\n" << rounded);
}

TEST_CASE("checkpoint sizes agree with every published size that is held", "[validation]") {
  std::string rounded;
  int held = 0;
  for (const auto& [name, model] : models()) {
    for (const Checkpoint& c : model.checkpoints) {
      const double ours = checkpoint_bytes(model, c).total() / 1e9;
      for (const PublishedSize& p : c.published) {
        const double off = percent(ours, p.gigabytes);
        INFO(fmt::format("{} {}: {:.2f} GB, published {:.2f} GB ({})", name, c.id, ours, p.gigabytes,
                         p.source));
        if (!p.gate) {
          rounded += fmt::format("  {:<18} {:<6} {:7.1f} GB  published {:7.1f}  {:+.2f} %\n", name, c.id,
                                 ours, p.gigabytes, off);
          continue;
        }
        ++held;
        CHECK(p.tolerance_pct <= 1);
        CHECK(std::abs(off) <= p.tolerance_pct);
      }
    }
  }
  CHECK(held >= 15);
  WARN("published sizes that are not held (rounded or upper bounds):\n" << rounded);
}

TEST_CASE("KV bytes per token are those of every model's cache layout", "[validation]") {
  REQUIRE(std::size(kKvCases) == models().size());
  for (const KvCase& k : kKvCases) {
    INFO(k.model);
    const Model& model = models().at(k.model);
    const KvSize bf16 = kv_size(model, KvDtype::bf16);
    CHECK(std::abs(percent(bf16.bytes_per_token, k.bf16)) < 0.2);
    CHECK(std::abs(percent(kv_size(model, KvDtype::fp8).bytes_per_token, k.fp8)) < 0.2);
    CHECK(bf16.window_bytes + bf16.state_bytes == Approx(k.fixed).epsilon(0.002));
  }
}

TEST_CASE("KV bytes per token agree with what engines allocated", "[validation]") {
  for (const KvLog& log : kKvLogs) {
    const double measured = log.gib * kGiB / log.tokens * log.share;
    const double ours = kv_size(models().at(log.model), log.dtype).bytes_per_token;
    INFO(fmt::format("{}: {:.0f} B per token, log {:.0f} B ({})", log.model, ours, measured, log.source));
    CHECK(std::abs(percent(ours, measured)) < 0.2);
  }
}

TEST_CASE("weights on a GPU agree with engine logs, apart from the open ones", "[validation]") {
  std::string table;
  int held = 0;
  for (const auto& [name, model] : models()) {
    for (const Checkpoint& c : model.checkpoints) {
      for (const LoadedSize& log : c.loaded) {
        const double ours = weights_on_rank(model, c, log.tp).total() / kGiB;
        const double off = percent(ours, log.gib);
        table += fmt::format("  {:<18} {:<13} TP{}  {:6.2f} GiB  log {:6.2f}  {:+.2f} %{}\n", name, c.id,
                             log.tp, ours, log.gib, off, log.open ? "  open" : "");
        INFO(table);
        if (log.open) continue;
        ++held;
        CHECK(std::abs(off) < 1);
      }
    }
  }
  CHECK(held >= 4);
  WARN("weights on one GPU:\n" << table);
}

TEST_CASE("one rank holds the whole model and the absorbed copy", "[validation]") {
  for (const auto& [name, model] : models()) {
    for (const Checkpoint& c : model.checkpoints) {
      INFO(name + " " + c.id);
      const RankWeights alone = weights_on_rank(model, c, 1);
      CHECK(total(alone.main) == Approx(total(checkpoint_bytes(model, c).main)).epsilon(1e-12));
      // Eight ranks hold at least the model, and replicas on top of it.
      CHECK(8 * total(weights_on_rank(model, c, 8).main) >= total(alone.main));
    }
  }
}

namespace {

/// The number at a key of a map, e.g. total_main_b: 1026.408.
double number_at(const Node& map, const std::string& key) {
  const Node* node = map.find(key);
  return node == nullptr ? NAN : std::strtod(node->text.c_str(), nullptr);
}

void compare_with_facts(const Model& model, const Node& facts) {
  const Node& computed = *facts.find("check")->find("computed");
  const ParameterCount count = count_parameters(model);
  CHECK(std::abs(total(count.main) / 1e9 - number_at(computed, "total_main_b")) < 0.001);
  CHECK(std::abs(total(count.mtp) / 1e9 - number_at(computed, "mtp_b")) < 0.001);
  CHECK(std::abs(count.active_body / 1e9 - number_at(computed, "active_body_b")) < 0.001);
  if (computed.find("mtp_active_per_pass_b") != nullptr)
    CHECK(std::abs(count.active_mtp / 1e9 - number_at(computed, "mtp_active_per_pass_b")) < 0.001);
  for (std::size_t d = 0; d < kKvDtypeNames.size(); ++d) {
    const Node& kv = *facts.find("kv_cache")->find(kKvDtypeNames[d]);
    const KvSize ours = kv_size(model, static_cast<KvDtype>(d));
    CHECK(std::abs(percent(ours.bytes_per_token, number_at(kv, "total_bytes_per_token"))) < 0.01);
    CHECK(ours.window_bytes == number_at(kv, "window_capped_bytes_per_seq"));
    CHECK(ours.state_bytes == number_at(kv, "fixed_state_bytes_per_seq"));
  }
  const auto& sizes =
      facts.find("check")->find("computed_checkpoint_gb")->entries;  // in the order of the file
  REQUIRE(sizes.size() <= model.checkpoints.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    INFO(sizes[i].key);
    const double theirs = std::strtod(sizes[i].value.text.c_str(), nullptr);
    CHECK(std::abs(checkpoint_bytes(model, model.checkpoints[i]).total() / 1e9 - theirs) < 0.051);
  }
}

}  // namespace

TEST_CASE("totals agree with the separate fact sheets, where they lie beside this checkout", "[validation]") {
  const fs::path folder = fs::path(MOE_SIM_SOURCE_DIR).parent_path() / "shared/reference/models";
  if (!fs::exists(folder)) {
    WARN("skipped: there is no " << folder.string());
    return;
  }
  for (const auto& [name, model] : models()) {
    INFO(name);
    const fs::path sheet = folder / (name + ".yaml");
    if (!fs::exists(sheet)) continue;
    Diagnostics found;
    const Document facts = load_document(sheet.string(), found);
    REQUIRE_FALSE(found.has_errors());
    compare_with_facts(model, facts.root);
  }
}
