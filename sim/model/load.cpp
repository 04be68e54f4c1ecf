#include "model/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "model/bind.hpp"
#include "model/layer_ranges.hpp"

namespace moe {
namespace {

/// Position of a named block; "" and "none" are the block of kind none, which is added when first used.
/// -1 when there is no such block.
template <class Block>
int find_block(std::vector<Block>& blocks, const std::string& name) {
  const std::string wanted = name.empty() ? "none" : name;
  const auto found =
      std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) { return b.name == wanted; });
  if (found != blocks.end()) return static_cast<int>(found - blocks.begin());
  if (wanted != "none") return -1;
  blocks.emplace_back();
  blocks.back().name = "none";
  return static_cast<int>(blocks.size()) - 1;
}

template <class Block>
int read_block(Fields& f, const std::string& key, std::vector<Block>& blocks, const std::string& help) {
  std::string name;
  f.text(key, name, Need::optional, help);
  if (f.describing()) return 0;
  const int position = find_block(blocks, name);
  if (position >= 0) return position;
  std::vector<std::string> known;
  for (const Block& b : blocks) known.push_back(b.name);
  f.error(key, fmt::format("no {} block is named `{}`", key, name), suggestion(name, known));
  return -1;
}

/// `{attention: mla, mlp: moe}`. False when a name is unknown.
bool bind_layer(Fields& f, Model& model, Layer& layer) {
  layer.attention = read_block(f, "attention", model.attention, "block of the attention half; absent: none");
  layer.mlp = read_block(f, "mlp", model.mlp, "block of the MLP half; absent: none");
  if (f.describing()) return true;
  if (!f.has("attention") && !f.has("mlp")) f.error("attention", "a layer needs an `attention` or an `mlp`");
  return layer.attention >= 0 && layer.mlp >= 0;
}

bool computes_indices(const Attention& a, int layer) {
  if (!a.dsa) return false;
  const auto& only = a.dsa->layers;
  return only.empty() || std::find(only.begin(), only.end(), layer) != only.end();
}

/// Reads the `layers` map into model.layers; leaves it empty when a layer is missing, doubled or unknown.
class LayerMap {
 public:
  LayerMap(Model& model, int count) : model_(model), layers_(to_size(count)), written_(to_size(count)) {}

  void read(Fields& f, const std::string& range) {
    Layer block;
    correct_ = bind_layer(f, model_, block) && correct_;
    if (f.describing()) return;
    const LayerRanges named = parse_layer_ranges(range);
    if (!named.problem.empty())
      return fail(f, named.problem, "write layers like `0`, `1..60` or `0..44+4, 1..45+4`");
    for (const int i : named.layers)
      if (!place(f, i, range, block)) return;
  }

  void finish(Fields& f) {
    if (f.describing() || !f.has("layers")) return;
    std::vector<int> missing;
    for (std::size_t i = 0; i < written_.size(); ++i)
      if (written_[i].empty()) missing.push_back(static_cast<int>(i));
    if (!missing.empty() && correct_)
      f.error("layers", fmt::format("no block is given for layer {}", layer_ranges_text(missing)),
              fmt::format("`layer_count` is {}; every layer needs an entry", written_.size()));
    if (missing.empty() && correct_) model_.layers = layers_;
  }

 private:
  static std::size_t to_size(int count) { return static_cast<std::size_t>(std::max(0, count)); }

  void fail(Fields& f, const std::string& message, const std::string& help) {
    f.error(f.has("attention") ? "attention" : "mlp", message, help);
    correct_ = false;
  }

  bool place(Fields& f, int layer, const std::string& range, const Layer& block) {
    const auto i = static_cast<std::size_t>(layer);
    if (i >= layers_.size()) {
      fail(f, fmt::format("there is no layer {}", layer),
           fmt::format("`layer_count` is {}, so the last layer is {}", layers_.size(),
                       static_cast<int>(layers_.size()) - 1));
      return false;
    }
    if (!written_[i].empty()) {
      fail(f, fmt::format("layer {} is given twice", layer),
           fmt::format("it is also part of `{}`", written_[i]));
      return false;
    }
    written_[i] = range;
    layers_[i] = block;
    if (block.attention >= 0)
      layers_[i].indexer =
          computes_indices(model_.attention[static_cast<std::size_t>(block.attention)], layer);
    return true;
  }

  Model& model_;
  std::vector<Layer> layers_;
  std::vector<std::string> written_;
  bool correct_ = true;
};

template <class Block>
void bind_blocks(Fields& f, const std::string& key, std::vector<Block>& blocks, const std::string& help,
                 void (*bind)(Fields&, Block&)) {
  f.named(key, Need::required, help, [&](Fields& g, const std::string& name) {
    Block block;
    block.name = name;
    bind(g, block);
    if (name == "none") g.error("kind", "`none` is the name of the empty half", "choose another name");
    blocks.push_back(std::move(block));
  });
}

void bind_mtp(Fields& f, Model& model, int layer_count) {
  f.section("mtp", Need::optional, "multi-token-prediction layers shipped with the model", [&](Fields& g) {
    Mtp& mtp = model.mtp;
    g.integer("layers", mtp.layers, Need::required, Range::between(1, kMostLayers), "MTP layers");
    g.list("blocks", Need::required, "decoder layers inside one MTP layer", [&](Fields& h, std::size_t) {
      Layer block;
      if (!bind_layer(h, model, block) || h.describing()) return;
      block.indexer = computes_indices(model.attention_of(block), layer_count);
      mtp.blocks.push_back(block);
    });
    if (g.has("blocks") && mtp.blocks.empty() && model.layers.size() > 0)
      g.error("blocks", "an MTP layer needs at least one block");
    g.flag("own_lm_head", mtp.own_lm_head, Need::optional, "each MTP layer has its own output head");
    g.flag("own_embed", mtp.own_embed, Need::optional, "each MTP layer has its own embedding");
  });
}

/// Layers listed under `dsa` must exist and use the block.
void check_indexer_layers(Fields& f, const Model& model) {
  const int count = static_cast<int>(model.layers.size());
  for (std::size_t b = 0; b < model.attention.size() && count > 0; ++b) {
    const Attention& block = model.attention[b];
    if (!block.dsa) continue;
    for (const int i : block.dsa->layers) {
      const bool is_mtp = i >= count && i < count + model.mtp.layers;
      const bool uses =
          i < count && model.layers[static_cast<std::size_t>(i)].attention == static_cast<int>(b);
      if (!is_mtp && !uses)
        f.error(
            "attention",
            fmt::format("`{}.dsa.layers` lists layer {}, which does not use this block", block.name, i),
            fmt::format("decoder layers are 0..{}, then come {} MTP layers", count - 1, model.mtp.layers));
    }
  }
}

/// What the model is, before its sizes.
void bind_identity(Fields& f, Model& model) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::any(), "version of this file format: 1");
  if (schema != 1)
    f.error("schema", fmt::format("schema {} is not known", schema), "this program reads `schema: 1`");
  f.text("repository", model.repository, Need::required, "where the reference weights are published");
  f.text("architecture", model.architecture, Need::required, "name of the architecture in its config");
  f.texts("sources", model.sources, Need::required, "where the numbers of this file come from");
}

void bind_checkpoints(Fields& f, Model& model) {
  f.list("checkpoints", Need::required, "released sets of weights", [&](Fields& g, std::size_t) {
    Checkpoint checkpoint;
    bind_checkpoint(g, model, checkpoint);
    model.checkpoints.push_back(std::move(checkpoint));
  });
  if (!f.describing() && f.has("checkpoints") && model.checkpoints.empty())
    f.error("checkpoints", "a model needs at least one checkpoint");
}

}  // namespace

void bind_model(Fields& f, Model& model) {
  bind_identity(f, model);
  int layer_count = 0;
  f.integer("hidden", model.hidden, Need::required, Range::between(1, 1e6), "width of the residual stream");
  f.integer("vocab", model.vocab, Need::required, Range::at_least(1), "tokens of the vocabulary, as stored");
  f.integer("layer_count", layer_count, Need::required, Range::between(1, kMostLayers),
            "decoder layers, without MTP");
  f.integer("max_context", model.max_context, Need::required, Range::at_least(1),
            "longest context in tokens");
  f.flag("tied_embeddings", model.tied_embeddings, Need::optional, "the output head is the embedding");
  f.integer("norms_per_layer", model.norms_per_layer, Need::optional, Range::between(0, 16),
            "norms of width hidden");
  f.integer("hyper_connections", model.hyper_connections, Need::optional, Range::between(2, 64),
            "multiplicity of the residual stream; absent: plain residual");
  f.number("vision_params", model.vision_params, Need::optional, Range::not_negative(),
           "parameters of a vision tower; not on the decode path");
  bind_blocks(f, "attention", model.attention, "attention blocks by name", bind_attention);
  bind_blocks(f, "mlp", model.mlp, "MLP blocks by name", bind_mlp);
  LayerMap map(model, layer_count);
  f.named("layers", Need::required, "which blocks each layer has, e.g. `1..60: {attention: mla, mlp: moe}`",
          [&](Fields& g, const std::string& range) { map.read(g, range); });
  map.finish(f);
  bind_mtp(f, model, layer_count);
  check_indexer_layers(f, model);
  f.list("published", Need::optional, "published parameter counts", [&](Fields& g, std::size_t) {
    model.published.emplace_back();
    bind_published(g, model.published.back());
  });
  bind_checkpoints(f, model);
}

namespace {

Model read_model(const Document& document, std::size_t errors_before, Diagnostics& out,
                 std::vector<FieldInfo>* record) {
  Model model;
  if (out.error_count() == errors_before)
    read_map(
        document.root, "", out, [&](Fields& f) { bind_model(f, model); }, record);
  if (out.error_count() > errors_before) model = {};
  model.name = std::filesystem::path(document.file).stem().string();
  return model;
}

}  // namespace

Model load_model(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record) {
  const std::size_t before = out.error_count();
  const Document document = load_document(file, out);
  return read_model(document, before, out, record);
}

Model parse_model(const std::string& text, const std::string& file, Diagnostics& out) {
  const std::size_t before = out.error_count();
  const Document document = parse_document(text, file, out);
  return read_model(document, before, out, nullptr);
}

}  // namespace moe
