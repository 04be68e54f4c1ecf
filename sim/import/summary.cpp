// What was imported, in figures that a model card states.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "import/import.hpp"
#include "model/sizes.hpp"

namespace moe {

std::string import_summary(const Imported& i) {
  const Model& m = i.model;
  const Checkpoint& checkpoint = m.checkpoints.front();
  const ParameterCount n = count_parameters(m);
  const KvSize bf16 = kv_size(m, KvDtype::bf16), fp8 = kv_size(m, KvDtype::fp8);
  TextTable t("lrl");
  t.row({"architecture", m.architecture,
         fmt::format("{} layers, hidden {}, vocabulary {}, context {}", m.layers.size(), m.hidden, m.vocab, m.max_context)});
  t.row({"parameters", fmt::format("{:.1f} B", total(n.main) * 1e-9), "decoder, embedding and head; without MTP and vision"});
  t.row({"active", fmt::format("{:.1f} B", n.active_body * 1e-9),
         fmt::format("per token in the layers; {:.1f} with the head, {:.1f} with head and embedding",
                     *count_named(n, "active_with_head") * 1e-9, *count_named(n, "active_with_embed_head") * 1e-9)});
  if (m.mtp.layers > 0) t.row({"MTP", fmt::format("{:.1f} B", total(n.mtp) * 1e-9), fmt::format("{} layers", m.mtp.layers)});
  t.row({"KV per token", grouped(bf16.bytes_per_token) + " B", fmt::format("bf16; {} B in fp8", grouped(fp8.bytes_per_token))});
  if (bf16.window_bytes + bf16.state_bytes > 0)
    t.row({"  and fixed", fmt::format("{:.1f} MB", (bf16.window_bytes + bf16.state_bytes) * 1e-6),
           "per sequence: full windows and recurrent state"});
  t.row({"checkpoint", fmt::format("{:.1f} GB", checkpoint_bytes(m, checkpoint).total() * 1e-9), checkpoint.id + ": " + checkpoint.method});
  std::string out = m.name + "\n" + t.render();
  for (const std::string& a : i.assumed) out += "warning: assumed: " + a + "\n";
  for (const std::string& k : i.not_understood) out += "warning: not understood: " + k + "\n";
  for (const std::string& p : i.unmapped) out += "warning: quantisation pattern not mapped to a tensor class: " + p + "\n";
  return out;
}

nlohmann::ordered_json import_json(const Imported& i) {
  const Model& m = i.model;
  const Checkpoint& checkpoint = m.checkpoints.front();
  const ParameterCount n = count_parameters(m);
  nlohmann::ordered_json formats = nlohmann::ordered_json::object();
  for (std::size_t c = 0; c < kTensorClassCount; ++c)
    if (n.main[c] + n.mtp[c] > 0) formats[std::string(kTensorClassNames[c])] = kFormatNames[static_cast<std::size_t>(checkpoint.format[c])];
  return {{"name", m.name},
          {"architecture", m.architecture},
          {"layers", m.layers.size()},
          {"parameters", total(n.main)},
          {"mtp_parameters", total(n.mtp)},
          {"active_parameters", n.active_body},
          {"kv_bytes_per_token", {{"bf16", kv_size(m, KvDtype::bf16).bytes_per_token}, {"fp8", kv_size(m, KvDtype::fp8).bytes_per_token}}},
          {"checkpoint", {{"id", checkpoint.id}, {"bytes", checkpoint_bytes(m, checkpoint).total()}, {"formats", formats},
                          {"verified", checkpoint.verified}}},
          {"assumed", i.assumed},
          {"not_understood", i.not_understood},
          {"unmapped_patterns", i.unmapped},
          {"yaml", i.yaml}};
}

}  // namespace moe
