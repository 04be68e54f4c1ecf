// What drafts do to a step, whatever the model and the plan.
#include <map>

#include "catch.hpp"
#include "base/check.hpp"
#include "lower/lower.hpp"
#include "report/result.hpp"
#include "repository.hpp"
#include "timeline/fingerprint.hpp"

using namespace moe;

namespace {

const std::string kKimi = "speculation-kimi-k2.5-int4-eagle3", kGlm = "speculation-glm-5-nvfp4-mtp", kQwen = "speculation-qwen3.5-397b-nvfp4-mtp";

Case spec_case(const std::string& experiment, const Overrides& set) {
  Diagnostics warnings;
  return load_case(test::experiment(experiment), set, warnings);
}

Result simulate(const std::string& experiment, const Overrides& set) { return evaluate(spec_case(experiment, set), {false, true}); }

double part(const Result& r, Category c) { return r.breakdown_ms[static_cast<std::size_t>(c)]; }

struct Counted {
  std::map<std::string, int> draft, target;
  double attention_bytes = 0, head_flop = 0, expert_flop = 0;
};

/// Ops of one rank by name, those of the draft apart.
Counted count(const Case& c) {
  const Lowered l = lower_step(c, {});
  Counted out;
  for (std::size_t i = index(l.first_op); i < l.program.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    if (l.program.kind[op] != Kind::compute) continue;
    const bool drafts = l.program.category[op] == Category::draft;
    ++(drafts ? out.draft : out.target)[l.program.names[l.program.label[op].name]];
    if (l.program.category[op] == Category::attention) out.attention_bytes += l.facts[op].dram_bytes;
    if (l.program.category[op] == Category::lm_head) out.head_flop += l.facts[op].flop;
    if (l.program.category[op] == Category::experts) out.expert_flop += l.facts[op].flop;
  }
  return out;
}

}  // namespace

TEST_CASE("no drafts are no speculation, to the picosecond", "[property]") {
  for (const auto& [with, k] : {std::pair{kKimi, "0"}, std::pair{kGlm, "0"}}) {
    const Result zero = simulate(with, {{"speculation.k", k}}), none = simulate(with, {{"speculation.method", "none"}});
    CHECK(zero.fingerprint == none.fingerprint);
    CHECK(zero.step_ms == none.step_ms);
    CHECK(zero.tpot_ms == zero.step_ms);
    CHECK(zero.memory.kv_capacity_tokens == none.memory.kv_capacity_tokens);
    CHECK_FALSE(zero.speculation.on);
  }
}

TEST_CASE("every draft adds one pass with its own head, attention and all-reduces", "[property]") {
  for (const int k : {1, 2, 5}) {
    CAPTURE(k);
    Counted kimi = count(spec_case(kKimi, {{"speculation.k", std::to_string(k)}}));
    CHECK(kimi.draft["lm_head"] == k);
    CHECK(kimi.draft["argmax"] == k);
    CHECK(kimi.draft["MLA decode"] == k);
    CHECK(kimi.draft["draft fusion"] == 1);                  // fc: once per step
    CHECK(kimi.draft["all-reduce attention"] == k);
    CHECK(kimi.draft["all-reduce embedding"] == k);
    CHECK(kimi.target["lm_head"] == 1);
    CHECK(kimi.target["MLA decode"] == 61);
    Counted glm = count(spec_case(kGlm, {{"speculation.k", std::to_string(k)}}));
    CHECK(glm.draft["draft fusion"] == k);                   // eh_proj: in every pass
    CHECK(glm.draft["experts w2"] == k);
  }
}

TEST_CASE("a block draft runs once and an n-gram draft not at all", "[property]") {
  Counted block = count(spec_case(kKimi, {{"speculation.method", "block"}, {"speculation.k", "5"}}));
  CHECK(block.draft["lm_head"] == 1);
  Counted copied = count(spec_case(kKimi, {{"speculation.method", "ngram"}}));
  CHECK(copied.draft.size() == 1);  // preparation on the host
  CHECK(copied.draft["host gap"] == 1);
}

TEST_CASE("the verify step reads the cache once per sequence and scores every position", "[property]") {
  const Overrides base{{"batch.sequences", "8"}, {"batch.context", "32768"}};
  Overrides none = base, three = base;
  none.emplace_back("speculation.k", "0");
  three.emplace_back("speculation.k", "3");
  const Counted a = count(spec_case(kKimi, none)), b = count(spec_case(kKimi, three));
  CHECK(b.attention_bytes == Approx(a.attention_bytes * (32768 + 4) / (32768 + 1)).epsilon(1e-9));
  CHECK(b.head_flop == Approx(4 * a.head_flop).epsilon(1e-9));
  CHECK(b.expert_flop == Approx(4 * a.expert_flop).epsilon(1e-9));
}

TEST_CASE("a sparser model pays more for a wider step", "[property]") {
  // The same number of tokens: Kimi touches 8 of 384 experts, Mixtral 2 of 8.
  const auto growth = [](const Overrides& model) {
    Overrides one = model, four = model;
    one.emplace_back("speculation.k", "0");
    for (Overrides* o : {&one, &four})
      for (const auto& kv : Overrides{{"routing.kind", "uniform"}, {"batch.sequences", "4"}}) o->push_back(kv);
    return part(simulate(kKimi, four), Category::experts) / part(simulate(kKimi, one), Category::experts);
  };
  const double sparse = growth({}), dense = growth({{"model", "mixtral-8x7b"}, {"checkpoint", "bf16"}, {"speculation.method", "ngram"}});
  CHECK(sparse > 1.5);
  CHECK(dense < sparse);
}

TEST_CASE("tokens of a sequence that are alike touch fewer experts", "[property]") {
  const Overrides base{{"batch.sequences", "8"}};
  Overrides alike = base;
  alike.emplace_back("speculation.token_overlap", "50%");
  const Result a = simulate(kKimi, base), b = simulate(kKimi, alike);
  CHECK(b.active_experts < 0.85 * a.active_experts);
  CHECK(count(spec_case(kKimi, alike)).expert_flop == Approx(count(spec_case(kKimi, base)).expert_flop).epsilon(1e-9));
}

TEST_CASE("time per token is the step over the acceptance length", "[property]") {
  const Result r = simulate(kKimi, {{"speculation.acceptance", "{mean_length: 2.5}"}, {"batch.sequences", "4"}});
  CHECK(r.tpot_ms == Approx(r.step_ms / 2.5));
  CHECK(r.tokens_per_s == Approx(4 * 2.5 / (r.step_ms * 1e-3)));
  CHECK(part(r, Category::draft) > 0);
  CHECK(r.speculation.speedup == Approx(r.speculation.step_without_ms / r.tpot_ms));
  CHECK(r.speculation.break_even_length == Approx(r.step_ms / r.speculation.step_without_ms));
}

TEST_CASE("drafts take memory: weights, cache, and a state per token that may be rejected", "[property]") {
  const Result glm = simulate(kGlm, {}), plain = simulate(kGlm, {{"speculation.k", "0"}});
  // One MoE layer in bf16, experts over eight ranks: 256 x 3 x 6144 x 2048 x 2 B / 8 = 2.25 GiB and its attention.
  const double more = (glm.memory.ranks[0].weights_bytes - plain.memory.ranks[0].weights_bytes) / (1024.0 * 1024 * 1024);
  CHECK(more > 2.25);
  CHECK(more < 2.8);
  CHECK(glm.memory.kv_bytes_per_token == Approx(plain.memory.kv_bytes_per_token * 79 / 78));
  const Result qwen = simulate(kQwen, {{"speculation.k", "2"}}), stateless = simulate(kQwen, {{"speculation.k", "0"}});
  CHECK(qwen.memory.kv_fixed_per_sequence == Approx(3 * stateless.memory.kv_fixed_per_sequence));
}

TEST_CASE("drafts run under every plan", "[property]") {
  const Overrides plans[] = {{{"plan.tp", "8"}, {"plan.ep", "8"}},
                             {{"plan.tp", "4"}, {"plan.dp", "2"}, {"plan.ep", "8"}},
                             {{"plan.tp", "1"}, {"plan.dp", "8"}, {"plan.ep", "8"}},
                             {{"plan.tp", "4"}, {"plan.pp", "2"}},
                             {{"plan.tp", "8"}, {"plan.dcp", "4"}},
                             {{"plan.tp", "8"}, {"plan.overlap", "two_batch"}}};
  for (Overrides plan : plans) {
    plan.emplace_back("batch.sequences", "16");
    const Case c = spec_case(kGlm, plan);
    CAPTURE(plan_text(c.experiment.plan));
    const Result r = evaluate(c, {false, true});
    CHECK(part(r, Category::draft) > 0);
    CHECK(r.step_ms > r.speculation.step_without_ms);
    CHECK(evaluate(c, {false, false}).step_ms == Approx(r.step_ms));  // unfolded
  }
}

TEST_CASE("fewer drafts in larger batches", "[property]") {
  const Overrides adaptive{{"speculation.adaptive", "[{max_batch: 4, k: 3}, {max_batch: 16, k: 1}]"}, {"speculation.k", "0"}};
  // k 0 switches speculation off altogether.
  CHECK_FALSE(simulate(kKimi, adaptive).speculation.on);
  for (const auto& [batch, k] : {std::pair{"4", 3}, std::pair{"16", 1}, std::pair{"17", 2}}) {
    const Result r = simulate(kKimi, {{"speculation.adaptive", "[{max_batch: 4, k: 3}, {max_batch: 16, k: 1}]"}, {"speculation.k", "2"}, {"batch.sequences", batch}});
    CHECK(r.speculation.k == k);
  }
}

TEST_CASE("a tree verifies its budget whatever it drafts", "[property]") {
  const Result r = simulate(kKimi, {{"speculation.tree", "{budget: 16, width: 4}"}, {"batch.sequences", "2"}});
  CHECK(r.rows == 32);
}

TEST_CASE("a draft model runs on all lanes or whole on each", "[property]") {
  const Overrides small{{"speculation.method", "model"}, {"speculation.draft", "qwen3-30b-a3b"}, {"speculation.checkpoint", "bf16"}};
  Overrides whole = small;
  whole.emplace_back("speculation.draft_tp", "1");
  const Result divided = simulate(kKimi, small);
  CHECK(part(divided, Category::draft) > 3 * 48 * 0.01);
  CHECK_THROWS_AS(simulate(kKimi, whole), Infeasible);  // 57 GiB more on every GPU
  Overrides half = small;
  half.emplace_back("speculation.draft_tp", "2");
  CHECK_THROWS_AS(simulate(kKimi, half), Infeasible);   // not simulated yet
}

TEST_CASE("what cannot be drafted is said", "[property]") {
  CHECK_THROWS_AS(spec_case(kKimi, {{"speculation.method", "mtp"}}), InputError);         // ships none
  CHECK_THROWS_AS(spec_case(kGlm, {{"checkpoint", "nvfp4-no-mtp"}}), InputError);         // released without
  CHECK_THROWS_AS(spec_case(kKimi, {{"speculation.draft", "no-such-head"}}), InputError);
  CHECK_THROWS_AS(spec_case(kKimi, {{"speculation.acceptance.library", "no-such-entry"}}), InputError);
  CHECK_THROWS_AS(spec_case(kKimi, {{"speculation.acceptance", "{per_position: [0.5, 0.6]}"}}), InputError);
  CHECK_THROWS_AS(spec_case(kKimi, {{"speculation.draft", "kimi-k2.5-eagle3-llama"}, {"plan.dcp", "2"}}), Infeasible);
}
