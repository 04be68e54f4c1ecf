// Which format does each tensor class have? The class has the format of its modules, asked layer by layer.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include "base/table.hpp"
#include "import/match.hpp"
#include "import/quantisation.hpp"
#include "model/sizes.hpp"

namespace moe {
namespace {

using T = TensorClass;

/// Outside the classes, or never quantised: no news when a list keeps them.
constexpr const char* kOutside[] = {"vision", "visual", "mm_projector", "multi_modal", "audio", "embed", "norm", "conv1d", "bias",
                                    "shared_expert_gate", "mtp", "dt_proj", "in_proj_a", "in_proj_b"};

/// Formats of one set of layers by class, counted over modules.
using Votes = std::array<std::map<Format, int>, kTensorClassCount>;

class Assigner {
 public:
  Assigner(const Scheme& s, const Family& f, const Model& m, HfConfig& c) : scheme_(s), family_(f), model_(m), c_(c) {
    unused_.insert(s.kept.begin(), s.kept.end());
  }

  std::array<Format, kTensorClassCount> main() {
    Votes votes;
    for (std::size_t i = 0; i < model_.layers.size(); ++i) vote(model_.layers[i], fmt::format("layers.{}.", i), votes);
    for (const ModuleName& n : family_.modules)
      if (n.tensors == T::lm_head) count(n, n.module, votes);
    return decided(votes, "");
  }

  std::array<Format, kTensorClassCount> mtp() {
    Votes votes;
    const std::string prefix = fmt::format(fmt::runtime(family_.mtp_prefix), model_.layers.size()) + ".";
    for (const Layer& l : model_.mtp.blocks) vote(l, prefix, votes);
    for (const ModuleName& n : family_.modules)
      if (n.tensors == T::mtp_proj) count(n, prefix + n.module, votes);
    return decided(votes, " of the MTP layer");
  }

  /// Patterns that named nothing, numbers folded.
  std::vector<std::string> unmapped() const {
    std::set<std::string> out;
    for (const std::string& p : unused_)
      if (std::none_of(std::begin(kOutside), std::end(kOutside), [&](const char* w) { return p.find(w) != std::string::npos; }))
        out.insert(std::regex_replace(p, std::regex("[0-9]+"), "N"));
    return {out.begin(), out.end()};
  }

 private:
  Format format_of(T tensors, const std::string& module) {
    bool kept = false;
    for (const std::string& p : scheme_.kept)
      if (names_module(p, module)) kept = true, unused_.erase(p);
    for (std::size_t end = module.size(); end != std::string::npos && end > 0; end = module.rfind('.', end - 1))
      if (const auto at = scheme_.listed.find(module.substr(0, end)); at != scheme_.listed.end() && !kept) return at->second;
    for (const auto& [pattern, format] : scheme_.patterns)
      if (!kept && names_module(pattern, module)) return format;
    const bool usually_kept = tensors == T::lm_head || tensors == T::router;
    if (usually_kept && !kept && scheme_.base && (tensors == T::lm_head || family_.router_is_linear)) silent_.insert(tensors);
    if (kept || usually_kept) return Format::bf16;
    if (tensors == T::routed_experts && scheme_.experts) return *scheme_.experts;
    return scheme_.base.value_or(Format::bf16);
  }

  void count(const ModuleName& n, const std::string& module, Votes& votes) {
    ++votes[index(n.tensors)][format_of(n.tensors, module)];
  }

  void vote(const Layer& layer, const std::string& prefix, Votes& votes) {
    ByClass sizes = attention_params(model_.attention_of(layer), model_.hidden, layer.indexer);
    const ByClass mlp = mlp_params(model_.mlp_of(layer), model_.hidden);
    for (const ModuleName& n : family_.modules)
      if (sizes[index(n.tensors)] + mlp[index(n.tensors)] > 0) count(n, prefix + n.module, votes);
  }

  std::array<Format, kTensorClassCount> decided(const Votes& votes, const char* where) {
    std::array<Format, kTensorClassCount> out{};
    out.fill(Format::bf16);
    for (std::size_t i = 0; i < kTensorClassCount; ++i) {
      if (votes[i].empty()) continue;
      int all = 0;
      auto most = votes[i].begin();
      for (auto at = votes[i].begin(); at != votes[i].end(); ++at) {
        all += at->second;
        if (at->second > most->second) most = at;
      }
      out[i] = most->first;
      if (most->second < all)
        c_.assume(fmt::format("{}{} is quantised in part: {} of {} modules are {}, taken for all", kTensorClassNames[i], where,
                              most->second, all, kFormatNames[static_cast<std::size_t>(most->first)]));
    }
    for (const T t : silent_)
      c_.assume(fmt::format("{}: the quantisation config does not list it as kept; taken as bf16, as in released files",
                            kTensorClassNames[index(t)]));
    silent_.clear();
    return out;
  }

  const Scheme& scheme_;
  const Family& family_;
  const Model& model_;
  HfConfig& c_;
  std::set<std::string> unused_;
  std::set<T> silent_;  ///< classes that are kept although nothing says so
};

/// Formats that do not depend on the scheme.
void fix_formats(const Family& f, const Model& m, std::array<Format, kTensorClassCount>& formats) {
  for (const Mlp& mlp : m.mlp)
    if (mlp.kind == Mlp::Kind::moe && formats[index(T::router)] == Format::bf16) formats[index(T::router)] = mlp.router_format;
  const bool corrects = std::any_of(m.mlp.begin(), m.mlp.end(), [](const Mlp& b) { return b.correction_bias; });
  if (f.fp32_router_bias && corrects) formats[index(T::router_bias)] = Format::fp32;
  if (m.hyper_connections > 0) formats[index(T::hc)] = Format::fp32;
}

std::string id_of(const Scheme& s, Format experts) {
  if (!s.id.empty()) return s.id;
  const std::string name(kFormatNames[static_cast<std::size_t>(experts)]);
  if (name == "bf16" && s.base) return std::string(kFormatNames[static_cast<std::size_t>(*s.base)]).substr(0, 3);
  return name.substr(0, name.find('_'));
}

std::string activation_of(const Scheme& s, Format experts) {
  const std::string name(kFormatNames[static_cast<std::size_t>(experts)]);
  if (experts == Format::bf16 || (s.weights_only && !s.fp8_activations)) return "bf16";
  if (experts == Format::nvfp4) return "nvfp4";
  return s.fp8_activations || name.starts_with("fp8") ? "fp8" : "bf16";
}

}  // namespace

Checkpoint apply_scheme(const Scheme& s, const Family& f, const Model& m, HfConfig& c, std::vector<std::string>& unmapped) {
  Checkpoint out;
  Assigner assign(s, f, m, c);
  out.format = assign.main();
  out.mtp_format = m.mtp.layers > 0 ? assign.mtp() : out.format;
  unmapped = assign.unmapped();
  fix_formats(f, m, out.format);
  fix_formats(f, m, out.mtp_format);
  const Format experts = out.format[index(T::routed_experts)];
  out.id = id_of(s, experts);
  out.method = s.method;
  out.activation = activation_of(s, experts);
  out.kv_dtype = s.fp8_kv || f.fp8_kv ? "fp8" : "bf16";
  if (f.fp8_kv && !s.fp8_kv) c.assume("the KV cache is fp8, as in the released inference code");
  if ((s.base || !s.listed.empty()) && !s.lists_kept) {
    out.verified = false;
    c.assume("no list of kept modules: every linear layer of the decoder is taken as quantised, head and routers are not");
  }
  out.mtp_duplicates_embed_head = m.mtp.layers > 0 && f.mtp_copies_embedding;
  if (out.mtp_duplicates_embed_head) c.assume("the files repeat embedding and head in the MTP layer, as in released files of this family");
  for (const Layer& l : m.layers)  // expert ids by token, int64
    if (m.mlp_of(l).hash_routed) out.extra_bytes += 8.0 * m.vocab * m.mlp_of(l).topk;
  return out;
}

}  // namespace moe
