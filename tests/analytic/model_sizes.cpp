// Sizes of models small enough to count by hand.
#include "model/sizes.hpp"

#include "analytic/tiny_model.hpp"
#include "catch.hpp"

using namespace moe;
using namespace moe::test;
using C = TensorClass;

namespace {

double at(const ByClass& p, C c) { return p[index(c)]; }

}  // namespace

TEST_CASE("MLA parameters follow from its ranks and head widths", "[analytic]") {
  const ByClass p = attention_params(mla_block(), 10, false);
  CHECK(at(p, C::attn_q) == 10 * 4 + 4 * 2 * (2 + 1));  // down to rank 4, up to 2 heads x (nope 2 + rope 1)
  CHECK(at(p, C::attn_kv) == 10 * (3 + 1));             // down to rank 3, and the shared rope key
  CHECK(at(p, C::attn_kv_b) == 3 * 2 * (2 + 5));        // up to 2 heads x (nope 2 + value 5)
  CHECK(at(p, C::attn_o) == 2 * 5 * 10);
  CHECK(at(p, C::norms) == 4 + 3);
  CHECK(total(p) == 64 + 40 + 42 + 100 + 7);
}

TEST_CASE("an indexer adds its projections only to the layers that have it", "[analytic]") {
  Attention a = mla_block();
  a.dsa = SparseIndexer{3, 8, 16, {}};
  const double without = total(attention_params(a, 10, false));
  CHECK(without == total(attention_params(mla_block(), 10, false)));
  const ByClass p = attention_params(a, 10, true);
  CHECK(at(p, C::indexer) == 4 * 3 * 8 + 10 * 8);  // queries from rank 4 to 3 heads x 8, one key of 8
  CHECK(at(p, C::indexer_w) == 10 * 3);            // one weight per head
  CHECK(total(p) == without + 176 + 30 + 2 * 8);   // and a layer norm with bias on the key
}

TEST_CASE("GQA gates, biases, sinks and norms are counted where they are", "[analytic]") {
  Attention a = gqa_block(4, 2, 3);
  CHECK(total(attention_params(a, 10, false)) == 10 * 12 + 2 * 10 * 6 + 12 * 10);
  a.output_gate = Attention::OutputGate::elementwise;
  CHECK(at(attention_params(a, 10, false), C::attn_q) == 2 * 10 * 12);
  a.output_gate = Attention::OutputGate::headwise;
  CHECK(at(attention_params(a, 10, false), C::attn_gate) == 10 * 4);
  a.qkv_bias = a.o_bias = a.sinks = true;
  CHECK(at(attention_params(a, 10, false), C::norms) == (4 + 2 * 2) * 3 + 10 + 4);
  a.qkv_bias = a.o_bias = a.sinks = false;
  a.qk_norm = Attention::QkNorm::per_head;
  CHECK(at(attention_params(a, 10, false), C::norms) == 3 + 3);
  a.qk_norm = Attention::QkNorm::per_layer;
  CHECK(at(attention_params(a, 10, false), C::norms) == 4 * 3 + 2 * 3);
}

TEST_CASE("a draft that reads two streams has twice the query and key projections", "[analytic]") {
  Attention a = gqa_block(4, 2, 3);
  a.input_mult = 2;
  CHECK(at(attention_params(a, 10, false), C::attn_q) == 20 * 12);
  CHECK(at(attention_params(a, 10, false), C::attn_kv) == 2 * 20 * 6);
  CHECK(at(attention_params(a, 10, false), C::attn_o) == 12 * 10);
}

TEST_CASE("a gated delta net has projections, a convolution and a square state per value head",
          "[analytic]") {
  Attention a;
  a.kind = Attention::Kind::gdn;
  a.k_heads = 2, a.v_heads = 4, a.k_head_dim = 3, a.v_head_dim = 5, a.conv_kernel = 4;
  // q and k: 2 x 3 each; v and z: 4 x 5 each.
  const ByClass p = attention_params(a, 10, false);
  CHECK(at(p, C::linattn_in) == 10 * (6 + 6 + 20 + 20));
  CHECK(at(p, C::linattn_out) == 20 * 10);
  // a and b for 4 heads, 32 channels x 4 taps, 2 scalars per head, one norm of 5.
  CHECK(at(p, C::linattn_small) == 10 * 8 + 32 * 4 + 2 * 4 + 5);
  const KvLayer kv = kv_of_layer(a, KvDtype::fp8, false);
  CHECK(kv.bytes_per_token == 0);
  CHECK(kv.state_bytes == 4 * (4 * 3 * 5) + 2 * 32 * 3);  // fp32 state, three earlier bf16 inputs per channel
}

TEST_CASE("Mamba2 has a state per head channel", "[analytic]") {
  Attention a;
  a.kind = Attention::Kind::mamba2;
  a.heads = 4, a.head_dim = 3, a.state = 5, a.groups = 2, a.conv_kernel = 4;
  // Inner width 12; convolved: 12 + B and C of 2 groups x 5 each = 32.
  const ByClass p = attention_params(a, 10, false);
  CHECK(at(p, C::linattn_in) == 10 * (12 + 32 + 4));
  CHECK(at(p, C::linattn_out) == 12 * 10);
  CHECK(at(p, C::linattn_small) == 32 * 4 + 32 + 3 * 4 + 12);
  CHECK(kv_of_layer(a, KvDtype::bf16, false).state_bytes == 4 * (12 * 5) + 2 * 32 * 3);
}

TEST_CASE("DeepSeek-V4 rows: one per compressed group of tokens, beside a fixed raw window", "[analytic]") {
  Attention a;
  a.kind = Attention::Kind::dsv4;
  a.heads = 64, a.head_dim = 512, a.rope_dim = 64, a.window = 128;
  a.q_lora_rank = 1024, a.o_lora_rank = 1024, a.o_groups = 8;
  CHECK(kv_of_layer(a, KvDtype::fp8, false).bytes_per_token == 0);
  CHECK(kv_of_layer(a, KvDtype::fp8, false).state_bytes == 584 * 128);  // 448 + 2 x 64 + 448/64 + 1
  CHECK(kv_of_layer(a, KvDtype::bf16, false).state_bytes == 1024 * 128);
  a.compress_ratio = 128;
  CHECK(kv_of_layer(a, KvDtype::bf16, false).bytes_per_token == 1024.0 / 128);
  a.compress_ratio = 4, a.index_heads = 64, a.index_head_dim = 128, a.index_topk = 512;
  CHECK(kv_of_layer(a, KvDtype::fp8, false).bytes_per_token == (584.0 + 128 + 4) / 4);
  const ByClass p = attention_params(a, 4096, false);
  CHECK(at(p, C::attn_q) == 4096.0 * 1024 + 1024.0 * 64 * 512);
  CHECK(at(p, C::attn_o) == 64.0 * 512 * 1024 + 8.0 * 1024 * 4096);
  CHECK(at(p, C::compressor) ==
        4096.0 * (2 * 2 * 512 + 4 * 128));  // keys and gates, twice as wide; and the indexer's
  CHECK(at(p, C::hc) == 4 * 2 * 512 + 4 * 2 * 128);
}

TEST_CASE("experts may be biased, latent, shared or without a gate", "[analytic]") {
  Mlp m = moe_block();
  CHECK(total(mlp_params(m, 10)) == 4 * 3 * 10 * 6 + 4 * 10);
  m.expert_bias = m.router_bias = true;  // biases of w1, w3 (6 each) and w2 (10), and of the router
  CHECK(at(mlp_params(m, 10), C::expert_bias) == 4 * (6 + 6 + 10));
  CHECK(at(mlp_params(m, 10), C::router_bias) == 4);
  m.gated = false;
  CHECK(at(mlp_params(m, 10), C::routed_experts) == 4 * 2 * 10 * 6);
  m.latent = 5;  // experts work on 5, projected down and up
  CHECK(at(mlp_params(m, 10), C::routed_experts) == 4 * 2 * 5 * 6);
  CHECK(at(mlp_params(m, 10), C::latent_proj) == 2 * 10 * 5);
  m.shared_experts = 1, m.shared_intermediate = 7, m.shared_gate = true;  // shared experts stay on hidden
  CHECK(at(mlp_params(m, 10), C::shared_experts) == 2 * 10 * 7);
  CHECK(at(mlp_params(m, 10), C::router) == 4 * 10 + 10);
}

TEST_CASE("a token uses topk of the experts and everything else", "[analytic]") {
  const ParameterCount n = count_parameters(tiny_model());
  const double attention = 16 * 16 + 2 * 16 * 4 + 16 * 16;  // q, k and v, o
  const double experts = 4 * 3 * 16 * 6, router = 4 * 16, norms = 2 * 2 * 16 + 16;
  CHECK(total(n.main) == 2 * attention + experts + router + norms + 2 * 1600);
  CHECK(n.active_body == 2 * attention + experts / 4 + router + norms);
  CHECK(*count_named(n, "active_with_head") == n.active_body + 1600);
  CHECK(*count_named(n, "active_with_embed_head") == n.active_body + 3200);
  CHECK_FALSE(count_named(n, "active").has_value());
}

TEST_CASE("a tied head is stored once and used once", "[analytic]") {
  Model m = tiny_model();
  const double untied = total(count_parameters(m).main);
  m.tied_embeddings = true;
  const ParameterCount n = count_parameters(m);
  CHECK(total(n.main) == untied - 1600);
  CHECK(*count_named(n, "active_with_head") == n.active_body + 1600);
  CHECK(*count_named(n, "active_with_embed_head") == n.active_body + 1600);
}

TEST_CASE("an MTP layer is its blocks, a projection of two streams and three norms", "[analytic]") {
  Model m = tiny_model();
  m.mtp.layers = 2;
  m.mtp.blocks = {{0, 1, false}};
  m.mtp.own_lm_head = true;
  const double attention = 16 * 16 + 2 * 16 * 4 + 16 * 16, experts = 4 * 3 * 16 * 6, router = 4 * 16;
  const double own = 2 * 16 * 16 + 3 * 16;  // the projection, the norms
  const ParameterCount n = count_parameters(m);
  CHECK(total(n.mtp) == 2 * (attention + experts + router + 2 * 16 + own + 1600));
  CHECK(n.active_mtp == 2 * (attention + experts / 4 + router + 2 * 16 + own));
  CHECK(*count_named(n, "total_with_mtp") == total(n.main) + total(n.mtp));
}

TEST_CASE("hyper-connections mix m streams twice per layer and once at the end", "[analytic]") {
  Model m = tiny_model();
  m.hyper_connections = 2;
  // Per mix: (2 + m) m coefficients, each from m h inputs and a bias, and 3 scales.
  const double mix = (2 + 2) * 2 * (2 * 16 + 1) + 3;
  CHECK(at(count_parameters(m).main, C::hc) == 2 * 2 * mix + 2 * 2 * 16);
}

TEST_CASE("block formats cost their scales", "[analytic]") {
  CHECK(bytes_per_element(Format::nvfp4) * 16 == 8 + 1);
  CHECK(bytes_per_element(Format::mxfp4) * 32 == 16 + 1);
  CHECK(bytes_per_element(Format::int4_g32) * 32 == 16 + 2);
  CHECK(bytes_per_element(Format::int4_g128) * 128 == 64 + 2);
  CHECK(bytes_per_element(Format::fp8_b128) * 128 * 128 == 128 * 128 + 4);
  CHECK(bytes_per_element(Format::fp8_b128_e8m0) * 128 * 128 == 128 * 128 + 1);
  CHECK(bytes_per_element(Format::bf16) == 2);
}

TEST_CASE("a checkpoint stores each class in its format", "[analytic]") {
  Model m = tiny_model();
  m.mtp.layers = 1;
  m.mtp.blocks = {{0, 1, false}};
  m.vision_params = 1000;
  Checkpoint& c = m.checkpoints[0];
  const ParameterCount n = count_parameters(m);
  CHECK(checkpoint_bytes(m, c).total() == 2 * (total(n.main) + total(n.mtp) + 1000));
  c.format[index(C::routed_experts)] = Format::nvfp4;  // the MTP layer keeps bf16
  const double experts = 4 * 3 * 16 * 6;
  CHECK(checkpoint_bytes(m, c).main[index(C::routed_experts)] == experts * 9 / 16);
  CHECK(checkpoint_bytes(m, c).mtp[index(C::routed_experts)] == experts * 2);
  c.mtp_duplicates_embed_head = true;
  CHECK(checkpoint_bytes(m, c).mtp_copies == 2 * 1600 * 2);
  c.has_mtp = c.has_vision = false;
  c.extra_bytes = 5;
  const CheckpointBytes b = checkpoint_bytes(m, c);
  CHECK(b.mtp_copies + total(b.mtp) + b.vision == 0);
  CHECK(b.total() == total(b.main) + 5);
}
