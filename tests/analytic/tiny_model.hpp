// A model small enough to count by hand, and its parts.
//
//   tiny_model(): hidden 16, vocab 100, two layers of GQA with 8 query and 2 KV heads of width 2; the second layer
//   has 4 experts of width 6, top 1; one bf16 checkpoint.
#pragma once
#include "model/model.hpp"

namespace moe::test {

inline Attention mla_block() {
  Attention a;
  a.kind = Attention::Kind::mla;
  a.heads = 2;
  a.q_lora_rank = 4;
  a.kv_lora_rank = 3;
  a.qk_nope_head_dim = 2;
  a.qk_rope_head_dim = 1;
  a.v_head_dim = 5;
  return a;
}

inline Attention gqa_block(int heads, int kv_heads, int head_dim) {
  Attention a;
  a.kind = Attention::Kind::gqa;
  a.heads = heads;
  a.kv_heads = kv_heads;
  a.head_dim = head_dim;
  return a;
}

inline Mlp moe_block() {
  Mlp m;
  m.kind = Mlp::Kind::moe;
  m.experts = 4;
  m.topk = 1;
  m.expert_intermediate = 6;
  return m;
}

inline Model tiny_model() {
  Model m;
  m.hidden = 16;
  m.vocab = 100;
  m.attention = {gqa_block(8, 2, 2)};
  m.mlp = {Mlp{}, moe_block()};
  m.layers = {{0, 0, false}, {0, 1, false}};
  Checkpoint c;
  c.format.fill(Format::bf16);
  c.mtp_format.fill(Format::bf16);
  m.checkpoints = {c};
  return m;
}

}  // namespace moe::test
