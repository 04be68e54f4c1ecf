#include <fmt/core.h>

#include <algorithm>

#include "model/bind.hpp"
#include "model/sizes.hpp"

namespace moe {
namespace {

using Formats = std::array<Format, kTensorClassCount>;

template <std::size_t N>
std::vector<std::string> words(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

/// A text out of a closed set, kept as text.
void bind_word(Fields& f, const std::string& key, std::string& into, const std::vector<std::string>& names,
               const std::string& help) {
  int position = -1;
  f.choice(key, position, names, Need::required, help);
  if (position >= 0) into = names[static_cast<std::size_t>(position)];
}

/// The router's format where a checkpoint does not list it: what the MoE blocks say.
Format router_format(const Model& model) {
  for (const Mlp& m : model.mlp)
    if (m.kind == Mlp::Kind::moe) return m.router_format;
  return Format::bf16;
}

/// `{default: bf16, routed_experts: int4_g32}`: a format for every tensor class.
/// `sizes` are the parameters of the model: a class that it does not have is worth a warning.
void bind_formats(Fields& f, Formats& formats, Format router, const ByClass& sizes) {
  static const std::vector<std::string> names = words(kFormatNames);
  Format rest = Format::bf16;
  f.choice("default", rest, names, Need::optional, "format of every class that is not listed");
  formats.fill(rest);
  formats[index(TensorClass::router)] = router;
  for (std::size_t c = 0; c < kTensorClassCount; ++c) {
    const std::string key(kTensorClassNames[c]);
    f.choice(key, formats[c], names, Need::optional, "format of this tensor class");
    if (!f.describing() && f.has(key) && sizes[c] == 0)
      f.warning(key, fmt::format("`{}` has no effect: the model has no such tensors", key));
  }
}

void bind_both_formats(Fields& f, const Model& model, Checkpoint& checkpoint) {
  const Format router = router_format(model);
  const ParameterCount sizes = count_parameters(model);
  ByClass all = sizes.main;
  for (std::size_t c = 0; c < kTensorClassCount; ++c) all[c] += sizes.mtp[c];
  f.section("formats", Need::required, "storage format by tensor class",
            [&](Fields& g) { bind_formats(g, checkpoint.format, router, all); });
  checkpoint.mtp_format = checkpoint.format;
  const bool given = f.section("mtp_formats", Need::optional, "the same for MTP layers; absent: as `formats`",
                               [&](Fields& g) { bind_formats(g, checkpoint.mtp_format, router, sizes.mtp); });
  for (const char* key : {"mtp_formats", "mtp_duplicates_embed_head"})
    if (!f.describing() && f.has(key) && model.mtp.layers == 0)
      f.error(key, fmt::format("`{}` has no effect: the model has no MTP layers", key));
  if (given && !checkpoint.has_mtp)
    f.error("mtp_formats", "`mtp_formats` has no effect beside `has_mtp: false`");
}

void bind_tolerance(Fields& f, double& percent) {
  double share = percent / 100;
  f.quantity("tolerance", share, Unit::share, Need::optional, Range::between(0, 0.1),
             "largest relative difference");
  percent = share * 100;
}

void bind_size(Fields& f, PublishedSize& size) {
  double bytes = 0;
  f.quantity("size", bytes, Unit::bytes, Need::required, Range::positive(), "bytes of the weight files");
  size.gigabytes = bytes / 1e9;
  f.text("source", size.source, Need::required, "who says so");
  f.flag("gate", size.gate, Need::optional, "a test holds us to it");
  bind_tolerance(f, size.tolerance_pct);
}

void bind_loaded(Fields& f, LoadedSize& loaded) {
  double bytes = 0;
  f.integer("tp", loaded.tp, Need::required, Range::between(1, 1024), "tensor-parallel ranks of the run");
  f.quantity("size", bytes, Unit::bytes, Need::required, Range::positive(),
             "weights on one GPU, from an engine log");
  loaded.gib = bytes / (1024.0 * 1024 * 1024);
  f.text("source", loaded.source, Need::required, "who says so");
  f.flag("open", loaded.open, Need::optional, "known to differ, cause unknown: reported, not held by a test");
}

/// An experiment names a checkpoint by its id, so it must be unique.
void check_id(Fields& f, const Model& model, const std::string& id) {
  const auto same = [&](const Checkpoint& c) { return c.id == id; };
  if (!id.empty() && std::any_of(model.checkpoints.begin(), model.checkpoints.end(), same))
    f.error("id", fmt::format("two checkpoints have the id `{}`", id),
            "an experiment could not tell them apart");
}

}  // namespace

void bind_checkpoint(Fields& f, const Model& model, Checkpoint& checkpoint) {
  static const std::vector<std::string> activations{"bf16", "fp8", "nvfp4", "mxfp8", "mxfp4"};
  f.text("id", checkpoint.id, Need::required, "short name used by experiments: int4, nvfp4, fp8, bf16, ...");
  check_id(f, model, checkpoint.id);
  f.text("repository", checkpoint.repository, Need::required, "where the weights are published");
  f.text("method", checkpoint.method, Need::required, "how they were quantised");
  f.flag("has_mtp", checkpoint.has_mtp, Need::optional, "the MTP layers are in the files");
  f.flag("has_vision", checkpoint.has_vision, Need::optional, "the vision tower is in the files");
  f.flag("mtp_duplicates_embed_head", checkpoint.mtp_duplicates_embed_head, Need::optional,
         "the files repeat embedding and head for each MTP layer");
  bind_both_formats(f, model, checkpoint);
  bind_word(f, "activation", checkpoint.activation, activations, "number format of expert activations");
  bind_word(f, "kv_dtype", checkpoint.kv_dtype, words(kKvDtypeNames),
            "KV cache format that the release asks for");
  f.flag("verified", checkpoint.verified, Need::optional,
         "the list of quantised tensors was read, not inferred");
  f.quantity("extra", checkpoint.extra_bytes, Unit::bytes, Need::optional, Range::not_negative(),
             "bytes of tensors outside every class");
  f.list("published", Need::optional, "published sizes of the weight files", [&](Fields& g, std::size_t) {
    checkpoint.published.emplace_back();
    bind_size(g, checkpoint.published.back());
  });
  f.list("loaded", Need::optional, "weights on one GPU, from engine logs", [&](Fields& g, std::size_t) {
    checkpoint.loaded.emplace_back();
    bind_loaded(g, checkpoint.loaded.back());
  });
}

void bind_published(Fields& f, PublishedCount& count) {
  bind_word(f, "what", count.what, words(kCountNames), "which count is meant");
  f.number("billions", count.billions, Need::required, Range::positive(), "the published number, in 1e9");
  f.text("source", count.source, Need::required, "who says so");
  f.text("note", count.note, Need::optional, "why it may differ");
  f.flag("gate", count.gate, Need::optional, "a test holds us to it");
  bind_tolerance(f, count.tolerance_pct);
}

}  // namespace moe
