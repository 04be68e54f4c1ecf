#include "import/families.hpp"
#include "model/layer_ranges.hpp"

namespace moe {

int read_common(HfConfig& c, Model& m) {
  m.hidden = c.first_of({"hidden_size", "d_model"});
  m.vocab = c.integer("vocab_size");
  m.max_context = c.first_of({"max_position_embeddings", "max_seq_len"});
  if (!c.has("tie_word_embeddings")) c.assume("`tie_word_embeddings` is missing: the output head is a tensor of its own");
  m.tied_embeddings = c.flag("tie_word_embeddings", false);
  if (c.has_vision()) c.assume("the vision tower is left out: its parameters are not in the config");
  const int layers = c.first_of({"num_hidden_layers", "n_layers"});
  if (layers < 1 || layers > kMostLayers) {
    c.error("a model has between 1 and 10000 layers, this one " + std::to_string(layers));
    return 0;
  }
  return layers;
}

Attention read_gqa(HfConfig& c, const Model& m, const std::string& name) {
  Attention a;
  a.kind = Attention::Kind::gqa;
  a.name = name;
  a.heads = c.first_of({"num_attention_heads", "n_heads"});
  a.kv_heads = c.integer("num_key_value_heads", a.heads);
  a.head_dim = c.integer("head_dim", a.heads > 0 ? m.hidden / a.heads : 0);
  a.qkv_bias = c.flag("attention_bias", c.flag("qkv_bias", false));
  const bool windows = c.flag("use_sliding_window", true);
  if (c.has("sliding_window") && windows && !c.has("layer_types")) a.window = c.integer("sliding_window");
  return a;
}

Mlp dense_mlp(int intermediate) {
  Mlp d;
  d.kind = Mlp::Kind::dense;
  d.name = "dense";
  d.intermediate = intermediate;
  return d;
}

int add_block(Model& m, Attention block) {
  m.attention.push_back(std::move(block));
  return static_cast<int>(m.attention.size()) - 1;
}

int add_block(Model& m, Mlp block) {
  m.mlp.push_back(std::move(block));
  return static_cast<int>(m.mlp.size()) - 1;
}

}  // namespace moe
