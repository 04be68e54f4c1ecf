// A Model as the text of a model file: only what differs from a key's default is written.
#include <fmt/core.h>

#include <algorithm>

#include "base/table.hpp"
#include "import/import.hpp"
#include "model/sizes.hpp"

namespace moe {
namespace {

constexpr std::size_t kWidth = 110;  // formats are wrapped here

/// In double quotes where YAML would read something else.
std::string scalar(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(":#{}[]&*!|>'\"%@`,\\\n") == std::string::npos && text.front() != ' ' &&
                     text.back() != ' ' && text.front() != '-' && text.front() != '?';
  if (plain && !std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; })) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

/// "0..6+2, 9, 12..20" for ascending layers: runs of equal steps are folded.
std::string ranges(const std::vector<int>& layers) {
  std::string out;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    const int step = end < layers.size() ? layers[end] - layers[i] : 0;
    while (end < layers.size() && layers[end] - layers[end - 1] == step) ++end;
    const bool folds = end - i >= (step == 1 ? 2u : 3u);
    if (!out.empty()) out += ", ";
    if (!folds) out += std::to_string(layers[i]), end = i + 1;
    else out += fmt::format("{}..{}{}", layers[i], layers[end - 1], step > 1 ? fmt::format("+{}", step) : "");
    i = end;
  }
  return out;
}

class Block {
 public:
  void number(const char* key, int value, int otherwise = 0) {
    if (value != otherwise) text_ += fmt::format("    {}: {}\n", key, value);
  }
  void flag(const char* key, bool value, bool otherwise = false) {
    if (value != otherwise) text_ += fmt::format("    {}: {}\n", key, value);
  }
  void word(const char* key, std::string_view value) { text_ += fmt::format("    {}: {}\n", key, value); }
  void raw(const std::string& text) { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void write_gqa_extras(const Attention& a, Block& b) {
  constexpr const char* kGates[] = {"none", "headwise", "elementwise"};
  constexpr const char* kNorms[] = {"none", "per_head", "per_layer", "none_weight"};
  if (a.qk_norm != Attention::QkNorm::none) b.word("qk_norm", kNorms[static_cast<int>(a.qk_norm)]);
  if (a.output_gate != Attention::OutputGate::none) b.word("output_gate", kGates[static_cast<int>(a.output_gate)]);
  b.flag("qkv_bias", a.qkv_bias);
  b.flag("o_bias", a.o_bias);
  b.flag("sinks", a.sinks);
  b.flag("rope", a.rope, true);
}

std::string attention_text(const Attention& a) {
  constexpr const char* kKinds[] = {"none", "mla", "gqa", "gdn", "mamba2", "dsv4"};
  Block b;
  b.word("kind", kKinds[static_cast<int>(a.kind)]);
  const std::pair<const char*, int> counts[] = {
      {"heads", a.heads}, {"kv_heads", a.kv_heads}, {"head_dim", a.head_dim}, {"rope_dim", a.rope_dim},
      {"q_lora_rank", a.q_lora_rank}, {"kv_lora_rank", a.kv_lora_rank}, {"qk_nope_head_dim", a.qk_nope_head_dim},
      {"qk_rope_head_dim", a.qk_rope_head_dim}, {"o_lora_rank", a.o_lora_rank}, {"o_groups", a.o_groups}, {"window", a.window},
      {"k_heads", a.k_heads}, {"v_heads", a.v_heads}, {"k_head_dim", a.k_head_dim}, {"v_head_dim", a.v_head_dim},
      {"state", a.state}, {"groups", a.groups}, {"conv_kernel", a.conv_kernel}, {"index_heads", a.index_heads},
      {"index_head_dim", a.index_head_dim}, {"index_topk", a.index_topk}};
  for (const auto& [key, value] : counts) b.number(key, value);
  if (a.kind == Attention::Kind::dsv4) b.number("compress_ratio", a.compress_ratio, -1);
  if (a.kind == Attention::Kind::gqa) write_gqa_extras(a, b);
  if (a.dsa) {
    b.raw(fmt::format("    dsa:\n      heads: {}\n      head_dim: {}\n      topk: {}\n", a.dsa->heads, a.dsa->head_dim, a.dsa->topk));
    if (!a.dsa->layers.empty()) b.raw(fmt::format("      layers: {}\n", ranges(a.dsa->layers)));
  }
  return fmt::format("  {}:\n{}", a.name, b.text());
}

std::string mlp_text(const Mlp& m) {
  Block b;
  b.word("kind", m.kind == Mlp::Kind::moe ? "moe" : "dense");
  b.flag("gated", m.gated, true);
  const std::pair<const char*, int> counts[] = {
      {"intermediate", m.intermediate}, {"experts", m.experts}, {"topk", m.topk}, {"expert_intermediate", m.expert_intermediate},
      {"latent", m.latent}, {"shared_experts", m.shared_experts}, {"shared_intermediate", m.shared_intermediate}};
  for (const auto& [key, value] : counts) b.number(key, value);
  b.number("groups", m.groups, 1);
  b.number("topk_groups", m.topk_groups, 1);
  const std::pair<const char*, bool> flags[] = {{"shared_gate", m.shared_gate}, {"expert_bias", m.expert_bias},
                                                {"router_bias", m.router_bias}, {"correction_bias", m.correction_bias},
                                                {"hash_routed", m.hash_routed}};
  for (const auto& [key, value] : flags) b.flag(key, value);
  if (m.router_format != Format::bf16) b.word("router_format", kFormatNames[static_cast<std::size_t>(m.router_format)]);
  return fmt::format("  {}:\n{}", m.name, b.text());
}

/// "{attention: mla, mlp: moe}"
std::string halves(const Model& m, const Layer& l) {
  std::string out;
  if (m.attention_of(l).kind != Attention::Kind::none) out += "attention: " + m.attention_of(l).name;
  if (m.mlp_of(l).kind != Mlp::Kind::none) out += (out.empty() ? "mlp: " : ", mlp: ") + m.mlp_of(l).name;
  return "{" + out + "}";
}

std::string layers_text(const Model& m) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const std::string text = halves(m, m.layers[i]);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == text; });
    if (same == groups.end()) groups.push_back({text, {static_cast<int>(i)}});
    else same->second.push_back(static_cast<int>(i));
  }
  std::string out = "layers:\n";
  for (const auto& [text, layers] : groups) out += fmt::format("  {}:\n    {}\n", ranges(layers), text);
  return out;
}

std::string mtp_text(const Model& m) {
  if (m.mtp.layers == 0) return {};
  std::string blocks;
  for (const Layer& l : m.mtp.blocks) blocks += (blocks.empty() ? "" : ", ") + halves(m, l);
  std::string out = fmt::format("\nmtp:\n  layers: {}\n  blocks: [{}]\n", m.mtp.layers, blocks);
  if (m.mtp.own_lm_head) out += "  own_lm_head: true\n";
  if (m.mtp.own_embed) out += "  own_embed: true\n";
  return out;
}

/// Classes that the model has and that are not bf16.
std::string formats_text(const char* key, const std::array<Format, kTensorClassCount>& formats, const ByClass& sizes) {
  std::string line = fmt::format("    {}: {{default: bf16", key), out;
  for (std::size_t c = 0; c < kTensorClassCount; ++c) {
    if (formats[c] == Format::bf16 || sizes[c] == 0) continue;
    const std::string item = fmt::format("{}: {}", kTensorClassNames[c], kFormatNames[static_cast<std::size_t>(formats[c])]);
    line += ",";
    if (line.size() + item.size() > kWidth) {
      out += line + "\n";
      line = std::string(14, ' ') + item;
    } else {
      line += " " + item;
    }
  }
  return out + line + "}\n";
}

std::string checkpoint_text(const Model& m, const Checkpoint& c) {
  const ParameterCount count = count_parameters(m);
  ByClass all = count.main;
  for (std::size_t i = 0; i < kTensorClassCount; ++i) all[i] += count.mtp[i];
  std::string out = fmt::format("  - id: {}\n    repository: {}\n    method: {}\n", c.id, scalar(c.repository), scalar(c.method));
  out += formats_text("formats", c.format, all);
  if (m.mtp.layers > 0 && c.mtp_format != c.format) out += formats_text("mtp_formats", c.mtp_format, count.mtp);
  if (c.mtp_duplicates_embed_head) out += "    mtp_duplicates_embed_head: true\n";
  if (!c.has_vision) out += "    has_vision: false\n";
  if (!c.verified) out += "    verified: false\n";
  out += fmt::format("    activation: {}\n    kv_dtype: {}\n", c.activation, c.kv_dtype);
  if (c.extra_bytes > 0) out += fmt::format("    extra: {:.0f} B\n", c.extra_bytes);
  return out;
}

}  // namespace

std::string model_yaml(const Model& m, const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += "# " + note + "\n";
  out += fmt::format("schema: 1\nrepository: {}\narchitecture: {}\nsources:\n", scalar(m.repository), scalar(m.architecture));
  for (const std::string& s : m.sources) out += fmt::format("  - {}\n", scalar(s));
  out += fmt::format("\nhidden: {}\nvocab: {}\nlayer_count: {}\nmax_context: {}\n", m.hidden, m.vocab, m.layers.size(), m.max_context);
  if (m.tied_embeddings) out += "tied_embeddings: true\n";
  if (m.norms_per_layer != 2) out += fmt::format("norms_per_layer: {}\n", m.norms_per_layer);
  if (m.hyper_connections > 0) out += fmt::format("hyper_connections: {}\n", m.hyper_connections);
  out += "\nattention:\n";
  for (const Attention& a : m.attention)
    if (a.kind != Attention::Kind::none) out += attention_text(a);
  out += "\nmlp:\n";
  for (const Mlp& b : m.mlp)
    if (b.kind != Mlp::Kind::none) out += mlp_text(b);
  out += "\n" + layers_text(m) + mtp_text(m) + "\ncheckpoints:\n";
  for (const Checkpoint& c : m.checkpoints) out += checkpoint_text(m, c);
  return out;
}

}  // namespace moe
