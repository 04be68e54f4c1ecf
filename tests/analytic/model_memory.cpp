// Weights on one GPU and KV cache of models small enough to count by hand.
#include "analytic/tiny_model.hpp"
#include "base/check.hpp"
#include "catch.hpp"
#include "model/sizes.hpp"

using namespace moe;
using namespace moe::test;
using C = TensorClass;

TEST_CASE("tensor parallelism divides projections and repeats norms and routers", "[analytic]") {
  const Model m = tiny_model();
  const RankWeights whole = weights_on_rank(m, m.checkpoints[0], 1);
  CHECK(whole.total() == checkpoint_bytes(m, m.checkpoints[0]).total());
  const RankWeights half = weights_on_rank(m, m.checkpoints[0], 2);
  for (std::size_t c = 0; c < kTensorClassCount; ++c) {
    const bool repeated = c == index(C::norms) || c == index(C::router);
    INFO(kTensorClassNames[c]);
    CHECK(half.main[c] == whole.main[c] / (repeated ? 1 : 2));
  }
}

TEST_CASE("a rank never holds less than one KV head", "[analytic]") {
  const Model m = tiny_model();  // two KV heads of width 2 in each of two layers
  const double one_head = 2 * 2 * 16 * 2 * 2.0;
  CHECK(weights_on_rank(m, m.checkpoints[0], 2).main[index(C::attn_kv)] == one_head);
  CHECK(weights_on_rank(m, m.checkpoints[0], 8).main[index(C::attn_kv)] == one_head);
}

TEST_CASE("MLA down-projections are whole on every rank, beside an absorbed copy of kv_b", "[analytic]") {
  Model m = tiny_model();
  m.hidden = 10;
  m.attention = {mla_block()};
  const RankWeights w = weights_on_rank(m, m.checkpoints[0], 2);
  CHECK(w.main[index(C::attn_q)] ==
        Approx(2 * 2 * (40 + 24 / 2.0)));  // 2 layers, bf16: q_a whole, q_b halved
  CHECK(w.main[index(C::attn_kv)] == Approx(2 * 2 * 40));
  CHECK(w.main[index(C::attn_kv_b)] == Approx(2 * 2 * 42 / 2.0));
  CHECK(w.absorbed_copy == 2 * 2 * 42 / 2.0);
}

TEST_CASE("MTP and vision are resident only where they are loaded", "[analytic]") {
  Model m = tiny_model();
  m.mtp.layers = 1;
  m.mtp.blocks = {{0, 1, false}};
  m.vision_params = 1000;
  const Checkpoint& c = m.checkpoints[0];
  CHECK(weights_on_rank(m, c, 2).mtp == 0);
  CHECK(weights_on_rank(m, c, 2).vision == 2000);
  CHECK(weights_on_rank(m, c, 2, {false, true}).vision == 1000);
  // Halved: attention and experts; whole: the projection (512), three and two norms, the router.
  const double divided = 16 * 16 + 2 * 16 * 4 + 16 * 16 + 4 * 3 * 16 * 6, whole = 512 + 5 * 16 + 4 * 16;
  CHECK(weights_on_rank(m, c, 2, {true, false}).mtp == 2 * (divided / 2 + whole));
}

TEST_CASE("no tensor parallelism of zero", "[analytic]") {
  const Model m = tiny_model();
  CHECK_THROWS_AS(weights_on_rank(m, m.checkpoints[0], 0), InternalError);
}

TEST_CASE("MLA caches one latent for all heads", "[analytic]") {
  CHECK(kv_of_layer(mla_block(), KvDtype::bf16, false).bytes_per_token == 2 * (3 + 1));
  CHECK(kv_of_layer(mla_block(), KvDtype::fp8, false).bytes_per_token == 3 + 1);
}

TEST_CASE("a sparse-attention row keeps scales and RoPE, an indexing layer one key more", "[analytic]") {
  Attention a = mla_block();
  a.kv_lora_rank = 512, a.qk_rope_head_dim = 64;
  a.dsa = SparseIndexer{64, 128, 2048, {}};
  CHECK(kv_of_layer(a, KvDtype::fp8, false).bytes_per_token == 512 + 4 * 4 + 2 * 64);  // 656
  CHECK(kv_of_layer(a, KvDtype::fp8, true).bytes_per_token == 656 + 128 + 4);
  CHECK(kv_of_layer(a, KvDtype::bf16, true).bytes_per_token == 2 * (512 + 64) + 132);
}

TEST_CASE("a windowed layer stops growing when its window is full", "[analytic]") {
  Model m = tiny_model();
  m.attention.push_back(gqa_block(8, 2, 2));
  m.attention[1].window = 100;
  m.layers[1].attention = 1;
  const double row = 2 * 2 * 2 * 2;  // keys and values of 2 heads x 2, bf16
  const KvSize size = kv_size(m, KvDtype::bf16);
  CHECK(size.bytes_per_token == row);
  CHECK(size.window_bytes == 100 * row);
  CHECK(size.state_bytes == 0);
  CHECK(kv_bytes(m, KvDtype::bf16, 60) == 60 * row + 60 * row);
  CHECK(kv_bytes(m, KvDtype::bf16, 1000) == 1000 * row + 100 * row);
  CHECK(kv_bytes(m, KvDtype::fp8, 1000) == 1100 * row / 2);
}
