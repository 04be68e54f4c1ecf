// Which keys has each part of a model file? Used by load.cpp only; everyone else includes model/load.hpp.
//
//   f.named("attention", Need::required, "...", [&](Fields& g, const std::string& name) {
//     Attention block;
//     block.name = name;
//     bind_attention(g, block);   // {kind: gqa, heads: 64, kv_heads: 8, head_dim: 128}
//   });
#pragma once
#include "config/fields.hpp"
#include "model/model.hpp"

namespace moe {

/// One attention block. A key that its kind does not use is an error: it would have no effect.
void bind_attention(Fields& f, Attention& block);
/// One MLP block, dense or mixture of experts.
void bind_mlp(Fields& f, Mlp& block);
/// One checkpoint. `model` must have its blocks, layers, MTP and earlier checkpoints already.
void bind_checkpoint(Fields& f, const Model& model, Checkpoint& checkpoint);
/// A published parameter count.
void bind_published(Fields& f, PublishedCount& count);

}  // namespace moe
