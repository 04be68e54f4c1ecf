// One decode step against the decode GEMM lists of the models: what tensor parallelism divides, what every
// rank repeats, and that nothing is charged twice. A dense GEMM of M rows does 2 M N K flop, so its sizes
// show in its work.
#include "lower/lower.hpp"

#include <algorithm>
#include <map>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

struct Step {
  Case c;
  Lowered l;
  std::string name(OpId op) const { return l.program.names[l.program.label[op].name]; }
  /// Ops of this name in one layer (-1: outside the layers), or in all of them.
  std::vector<OpId> ops(const std::string& wanted, int layer) const {
    std::vector<OpId> out;
    for (std::size_t i = 0; i < l.program.size(); ++i) {
      const OpId op = static_cast<OpId>(i);
      if (name(op) == wanted && (layer == kAll || l.program.label[op].layer == layer)) out.push_back(op);
    }
    return out;
  }
  std::size_t count(const std::string& wanted, int layer = kAll) const { return ops(wanted, layer).size(); }
  /// Work of the one op of this name in a layer.
  double flop(const std::string& wanted, int layer) const {
    const auto found = ops(wanted, layer);
    INFO(wanted << " in layer " << layer);
    REQUIRE(found.size() == 1);
    return l.facts[found[0]].flop;
  }
  bool replicated(const std::string& wanted, int layer) const {
    return l.facts[ops(wanted, layer).at(0)].replicated;
  }
  Time makespan() const { return run(l.program, l.resources, Sharing::max_min).makespan; }
  static constexpr int kAll = -2;
};

/// The Kimi experiment with some keys changed, lowered.
Step lowered(const Overrides& overrides) {
  Diagnostics found;
  Step s;
  s.c = load_case(test::experiment("kimi-k2.5-int4-tp8"), overrides, found);
  s.l = lower_step(s.c, {});
  return s;
}

double gemm(double m, double n, double k) { return 2 * m * n * k; }

const Overrides kGlm5{{"model", "glm-5"}, {"checkpoint", "nvfp4"}, {"kv_dtype", "bf16"}};
const Overrides kGlm52{{"model", "glm-5.2"}, {"checkpoint", "nvfp4"}};

Overrides operator+(Overrides a, const Overrides& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

TEST_CASE("an MLA layer of Kimi at TP8 runs the GEMMs of its decode list", "[analytic]") {
  const Step s = lowered({});
  // 64 heads of 128 + 64 (query) and 128 (value), latent 512 + 64, query rank 1536, hidden 7168.
  CHECK(s.flop("qkv_a", 1) == gemm(1, 1536 + 512 + 64, 7168));
  CHECK(s.flop("q_b", 1) == gemm(1, 64 * 192 / 8, 1536));
  CHECK(s.flop("o_proj", 1) == gemm(1, 7168, 64 * 128 / 8));
  CHECK(s.count("absorb W_UK", 1) == 1);
  CHECK(s.count("absorb W_UV", 1) == 1);
  CHECK(s.replicated("qkv_a", 1));
  CHECK_FALSE(s.replicated("q_b", 1));
  CHECK_FALSE(s.replicated("o_proj", 1));
}

TEST_CASE("a MoE layer of Kimi at TP8 slices experts and shared expert and repeats the router",
          "[analytic]") {
  const Step s = lowered({});
  CHECK(s.flop("router", 1) == gemm(1, 384, 7168));
  CHECK(s.replicated("router", 1));
  CHECK(s.flop("shared gate_up", 1) == gemm(1, 2 * 2048 / 8, 7168));
  CHECK(s.flop("shared down", 1) == gemm(1, 7168, 2048 / 8));
  // Each of 8 chosen experts: two matrices of 256 x 7168, then one back.
  CHECK(s.flop("experts w1,w3", 1) == Approx(8 * gemm(1, 2 * 256, 7168)));
  CHECK(s.flop("experts w2", 1) == Approx(8 * gemm(1, 7168, 256)));
}

TEST_CASE("the dense layer of Kimi slices its width and has no experts", "[analytic]") {
  const Step s = lowered({});
  CHECK(s.flop("gate_up", 0) == gemm(1, 2 * 18432 / 8, 7168));
  CHECK(s.flop("down", 0) == gemm(1, 7168, 18432 / 8));
  CHECK(s.count("router", 0) == 0);
  CHECK(s.count("experts w1,w3", 0) == 0);
  CHECK(s.count("gate_up") == 1);
  CHECK(s.count("router") == 60);
}

TEST_CASE("the head is sliced by vocabulary and sees the real rows only", "[analytic]") {
  const std::string tp = GENERATE("1", "2", "8");
  const Step s = lowered({{"plan.tp", tp}, {"batch.sequences", "9"}});
  CHECK(s.flop("lm_head", -1) == gemm(9, 163840 / std::stod(tp), 7168));
}

TEST_CASE("a step has two all-reduces per layer and one for the embedding", "[analytic]") {
  const auto all_reduces = [](const Step& s) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < s.l.program.size(); ++i)
      n += s.l.program.category[static_cast<OpId>(i)] == Category::all_reduce;
    return n;
  };
  CHECK(all_reduces(lowered({})) == 2 * 61 + 1);
  CHECK(all_reduces(lowered({{"stack.all_reduce.embedding", "false"}})) == 2 * 61);
  CHECK(all_reduces(lowered({{"plan.tp", "1"}})) == 0);
  // GLM-5.1 registers 157 buffers in an engine log: 78 layers.
  CHECK(all_reduces(lowered(kGlm5)) == 2 * 78 + 1);
}

TEST_CASE("rows are padded to the next captured size, sequences of the attention are not", "[analytic]") {
  const Step s = lowered({{"batch.sequences", "9"}}),
             eager = lowered({{"batch.sequences", "9"}, {"stack", "sglang-2026-01-eager"}});
  CHECK(s.l.rows == 16);
  CHECK(s.flop("router", 1) == gemm(16, 384, 7168));
  CHECK(eager.l.rows == 9);
  CHECK(eager.flop("router", 1) == gemm(9, 384, 7168));
  const Step exact = lowered({{"batch.sequences", "16"}});
  CHECK(s.l.facts[s.ops("MLA decode", 1)[0]].dram_bytes <
        exact.l.facts[exact.ops("MLA decode", 1)[0]].dram_bytes);
}

TEST_CASE("parts that a path's time contains are charged once", "[analytic]") {
  for (const Overrides& o :
       {Overrides{}, kGlm5, Overrides{{"stack", "trtllm-1.3"}, {"checkpoint", "nvfp4"}}}) {
    const Step s = lowered(o);
    std::size_t moe_layers = 0, dense_layers = 0;
    for (const Layer& layer : s.c.model.layers)
      ++(s.c.model.mlp_of(layer).kind == Mlp::Kind::moe ? moe_layers : dense_layers);
    // One measured expert time is split into four ops; only shared experts and dense MLPs have an activation
    // of their own.
    CHECK(s.count("top-k") == moe_layers);
    CHECK(s.count("permute") + s.count("permute+quantise") == moe_layers);
    CHECK(s.count("activation") == moe_layers + dense_layers);
    CHECK(s.count("finalise") == 0);
  }
}

TEST_CASE("activations are quantised by an op of their own only where the GEMM's time lacks it",
          "[analytic]") {
  const Step s = lowered({{"model", "glm-4.7"}, {"checkpoint", "fp8"}, {"kv_dtype", "bf16"}});
  const DenseGemmPath& path = s.c.profile->dense_gemm.at(s.c.stack.path("dense", "fp8"));
  std::size_t gemms = 0;
  for (const PathUse& p : s.l.paths)
    if (p.path == s.c.stack.path("dense", "fp8")) gemms = static_cast<std::size_t>(p.calls);
  REQUIRE(gemms > 0);
  CHECK(s.count("quantise") == (contains(path.includes, "quantise") ? 0 : gemms));
}

TEST_CASE("idle between graph nodes is added only to ops that were timed without it", "[analytic]") {
  const Step s = lowered({});
  const auto includes_gap = [&](const std::string& path) {
    const Profile& p = *s.c.profile;
    if (p.dense_gemm.count(path)) return contains(p.dense_gemm.at(path).includes, "gap");
    if (p.moe.count(path)) return contains(p.moe.at(path).includes, "gap");
    if (p.attention.count(path)) return contains(p.attention.at(path).includes, "gap");
    if (p.elementwise.count(path)) return contains(p.elementwise.at(path).includes, "gap");
    return true;  // a collective
  };
  std::size_t alone = 0;
  for (const PathUse& p : s.l.paths)
    if (!includes_gap(p.path)) alone += static_cast<std::size_t>(p.calls);
  CHECK(s.count("graph gap") == alone);
}

TEST_CASE("what a kernel takes longer in a step than alone is added to every kernel once", "[analytic]") {
  const Step warm = lowered({{"stack.launch.node_gap", "0 us"}}),
             cold = lowered({{"stack.launch.node_gap", "0 us"}, {"stack.launch.cold_kernel", "2 us"}});
  CHECK(warm.count("graph gap") == 0);
  const Profile& p = *cold.c.profile;
  std::size_t kernels = 0;  // experts count once, not by stage; collectives are no kernels of the profile
  for (const PathUse& use : cold.l.paths)
    if (p.dense_gemm.count(use.path) + p.moe.count(use.path) + p.attention.count(use.path) + p.elementwise.count(use.path) > 0)
      kernels += static_cast<std::size_t>(use.calls);
  CHECK(cold.count("graph gap") == kernels);
  // One stream: nothing hides it.
  CHECK(to_us(cold.makespan()) - to_us(warm.makespan()) == Approx(2.0 * static_cast<double>(kernels)));
}

TEST_CASE("without graphs the host launches layer after layer, and a step is never faster than that",
          "[analytic]") {
  const Step eager = lowered({{"stack", "sglang-2026-01-eager"}}),
             full = lowered({{"stack", "sglang-0.5.14"}});
  const double launches_us = 61 * eager.c.stack.launch.host_per_layer_us;
  CHECK(eager.count("launch layer") == 61);
  CHECK(eager.count("host gap") == 0);
  CHECK(to_us(eager.makespan()) >= launches_us);
  CHECK(to_us(eager.makespan()) <= launches_us + to_us(full.makespan()));
}

TEST_CASE("a batch beyond the largest graph is launched eagerly", "[analytic]") {
  const Step s = lowered({{"batch.sequences", "33"}, {"stack.launch.capture_sizes", "[1, 32]"}});
  CHECK(s.l.graph == GraphMode::eager);
  CHECK(s.count("launch layer") == 61);
  CHECK_FALSE(s.l.warnings.empty());
}

TEST_CASE("piecewise graphs wait for the host at every attention", "[analytic]") {
  const Step s = lowered({{"stack", "vllm-kimi-0423-piecewise"}});
  CHECK(s.count("launch attention") == 61);
  CHECK(to_us(s.makespan()) >= 61 * s.c.stack.launch.host_per_eager_attention_us);
}

TEST_CASE("KV heads are repeated when there are fewer than ranks", "[analytic]") {
  const std::string tp = GENERATE("1", "2", "4", "8");
  const Step s =
      lowered({{"model", "qwen3-235b-a22b"}, {"checkpoint", "bf16"}, {"kv_dtype", "bf16"}, {"plan.tp", tp}});
  // 64 query and 4 KV heads of width 128, hidden 4096.
  const double ranks = std::stod(tp);
  CHECK(s.flop("qkv", 0) == gemm(1, (64 / ranks + 2 * std::max(1.0, 4 / ranks)) * 128, 4096));
  CHECK(s.flop("o_proj", 0) == gemm(1, 4096, 64 / ranks * 128));
}

TEST_CASE("the sparse indexer runs on indexer layers only, and whole on every rank", "[analytic]") {
  const Step every = lowered(kGlm5), some = lowered(kGlm52);
  CHECK(every.count("indexer top-k") == 78);
  CHECK(some.count("indexer top-k") == 21);  // by its checkpoint
  CHECK(some.count("indexer logits") == 21);
  CHECK(some.count("sparse MLA") == 78);
  CHECK(some.replicated("indexer wq_b", 0));
}

TEST_CASE("a stack that ignores sparse attention reads the whole cache", "[analytic]") {
  const Step s = lowered(kGlm5 + Overrides{{"stack.sparse_attention", "false"}});
  CHECK(s.count("indexer top-k") == 0);
  CHECK(s.count("sparse MLA") == 0);
  CHECK(s.count("MLA decode") == 78);
}

TEST_CASE("an extra cast runs once per layer of its kind", "[analytic]") {
  const auto casts = [](const char* layers) {
    return lowered(kGlm5 +
                   Overrides{{"stack.extra_cast.bytes", "1.48 GB"}, {"stack.extra_cast.layers", layers}})
        .count("extra cast");
  };
  CHECK(casts("all") == 78);  // GLM-5: three dense layers, then MoE
  CHECK(casts("moe") == 75);
  CHECK(casts("dense") == 3);
}

TEST_CASE("fused kernels disappear, and nothing else does", "[analytic]") {
  const Step plain = lowered({}), fused = lowered({{"stack.fused", "[rope, kv_write]"}});
  CHECK(plain.count("rope") == 61);
  CHECK(fused.count("rope") == 0);
  CHECK(fused.count("kv write") == 0);
  CHECK(plain.l.program.size() - fused.l.program.size() == 2 * 61);
}
