#include "report/list_models.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/sizes.hpp"

namespace moe {
namespace {

std::string checkpoints_text(const Model& model) {
  std::string out;
  for (const Checkpoint& c : model.checkpoints) {
    const double gigabytes = checkpoint_bytes(model, c).total() / 1e9;
    out += fmt::format("{}{} {:.1f}{}", out.empty() ? "" : ", ", c.id, gigabytes, c.verified ? "" : "*");
  }
  return out;
}

std::string row(std::size_t width, const Model& model) {
  const ParameterCount count = count_parameters(model);
  const KvSize bf16 = kv_size(model, KvDtype::bf16);
  const double fixed = bf16.window_bytes + bf16.state_bytes;
  return fmt::format("{:<{}}  {:>8.1f}  {:>8.1f}  {:>8.1f}  {:>8.1f}  {:>8.1f}  {}\n", model.name, width,
                     total(count.main) / 1e9, (count.active_body + count.head) / 1e9,
                     bf16.bytes_per_token / 1e3, kv_size(model, KvDtype::fp8).bytes_per_token / 1e3,
                     fixed / 1e6, checkpoints_text(model));
}

std::string header(std::size_t width) {
  const auto line = [&](const char* a, const char* b, const char* c, const char* d, const char* e,
                        const char* f, const char* g) {
    std::string text =
        fmt::format("{:<{}}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}", a, width, b, c, d, e, f, g);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  return line("model", "total", "active", "KV cache", "KV cache", "fixed", "checkpoints") +
         line("", "B", "B", "KB/token", "KB/token", "MB/seq", "GB on disk") +
         line("", "", "", "bf16", "fp8", "bf16", "");
}

std::int64_t whole(double value) { return std::llround(value); }

nlohmann::json kv_json(const Model& model, KvDtype dtype) {
  const KvSize kv = kv_size(model, dtype);
  return {{"bytes_per_token", kv.bytes_per_token},  // a fraction where a row serves several tokens
          {"window_bytes_per_sequence", whole(kv.window_bytes)},
          {"state_bytes_per_sequence", whole(kv.state_bytes)}};
}

nlohmann::json checkpoint_json(const Model& model, const Checkpoint& checkpoint) {
  return {{"id", checkpoint.id},
          {"repository", checkpoint.repository},
          {"bytes", whole(checkpoint_bytes(model, checkpoint).total())},
          {"activation", checkpoint.activation},
          {"kv_dtype", checkpoint.kv_dtype},
          {"verified", checkpoint.verified}};
}

nlohmann::json model_json(const Model& model) {
  const ParameterCount count = count_parameters(model);
  nlohmann::json out{{"name", model.name},
                     {"repository", model.repository},
                     {"architecture", model.architecture},
                     {"layers", model.layers.size()},
                     {"max_context", model.max_context},
                     {"parameters", whole(total(count.main))},
                     {"mtp_parameters", whole(total(count.mtp))},
                     {"vision_parameters", whole(count.vision)},
                     {"checkpoints", nlohmann::json::array()}};
  for (const char* name : {"body", "with_head", "with_embed_head"})
    out["active_parameters"][name] = whole(*count_named(count, std::string("active_") + name));
  out["kv_cache"] = {{"bf16", kv_json(model, KvDtype::bf16)}, {"fp8", kv_json(model, KvDtype::fp8)}};
  for (const Checkpoint& c : model.checkpoints) out["checkpoints"].push_back(checkpoint_json(model, c));
  return out;
}

}  // namespace

std::string models_table(const std::vector<Model>& models) {
  std::size_t width = std::string("model").size();
  for (const Model& m : models) width = std::max(width, m.name.size());
  std::string out = header(width);
  for (const Model& m : models) out += row(width, m);
  return out;
}

nlohmann::json models_json(const std::vector<Model>& models) {
  nlohmann::json out = nlohmann::json::array();
  for (const Model& m : models) out.push_back(model_json(m));
  return out;
}

}  // namespace moe
