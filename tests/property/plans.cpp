// Whatever the plan, the same work is done: nothing is lost between ranks and nothing is done twice unless the plan
// repeats it. Counted over the ops of one step with every rank played.
#include <set>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "lower/lower.hpp"
#include "report/result.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

struct Totals {
  double expert_flop = 0, dense_flop = 0, attention_bytes = 0, head_flop = 0;
};

Case plan_case(const Overrides& plan) {
  Diagnostics warnings;
  Overrides all{{"model", "minimax-m2.5"}, {"checkpoint", "nvfp4"}, {"kv_dtype", "fp8"}, {"batch.sequences", "64"}, {"batch.context", "4096"}};
  all.insert(all.end(), plan.begin(), plan.end());
  return load_case(test::experiment("kimi-k2.5-int4-tp8"), all, warnings);
}

Totals totals_of(const Case& c) {
  LowerOptions unfolded;
  unfolded.fold = false;
  const Lowered l = lower_step(c, unfolded);
  Totals t;
  for (std::size_t i = index(l.first_op); i < l.facts.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    const OpFacts& f = l.facts[op];
    const double share = f.replicated ? 0 : 1;
    switch (l.program.category[op]) {
      case Category::experts: t.expert_flop += f.flop; break;
      case Category::dense_gemm: t.dense_flop += share * f.flop; break;
      case Category::attention: t.attention_bytes += f.dram_bytes; break;
      case Category::lm_head: t.head_flop += f.flop; break;
      default: break;
    }
  }
  return t;
}

const Overrides kPlans[] = {
    {{"plan.tp", "8"}},
    {{"plan.tp", "8"}, {"plan.ep", "8"}},
    {{"plan.tp", "8"}, {"plan.ep", "4"}},
    {{"plan.tp", "4"}, {"plan.dp", "2"}},
    {{"plan.tp", "4"}, {"plan.dp", "2"}, {"plan.ep", "8"}},
    {{"plan.tp", "1"}, {"plan.dp", "8"}, {"plan.ep", "8"}, {"stack.expert_exchange.by", "all_to_all"}},
    {{"plan.tp", "4"}, {"plan.pp", "2"}},
    {{"plan.tp", "2"}, {"plan.dp", "2"}, {"plan.pp", "2"}, {"plan.ep", "4"}},
    {{"plan.tp", "8"}, {"plan.overlap", "two_batch"}},
};

}  // namespace

TEST_CASE("expert rows, divided projections and the output head do the same work under every plan", "[property]") {
  // MiniMax-M2.5: 62 MoE layers of 256 experts, top-8, 3072 x 1536, three matrices; 64 tokens:
  // 62 x 64 x 8 x 3 x 2 x 3072 x 1536 flop. Output head: 64 x 2 x 200064 x 3072.
  const double experts = 62.0 * 64 * 8 * 3 * 2 * 3072 * 1536;
  const Totals reference = totals_of(plan_case(kPlans[0]));
  for (const Overrides& plan : kPlans) {
    const Case c = plan_case(plan);
    CAPTURE(plan_text(c.experiment.plan));
    const Totals t = totals_of(c);
    CHECK(t.expert_flop == Approx(experts).epsilon(1e-9));
    CHECK(t.dense_flop == Approx(reference.dense_flop).epsilon(1e-9));
    CHECK(t.head_flop == Approx(64.0 * 2 * c.model.vocab * c.model.hidden).epsilon(1e-9));
  }
}

TEST_CASE("the KV cache is read once per sequence and head, however it is spread", "[property]") {
  // 62 layers, 8 KV heads of 128, K and V in FP8, 64 sequences of 4096 + 1 tokens. Under tp 8 and below no head is repeated.
  const double bytes = 62.0 * 8 * 128 * 2 * 64 * 4097;
  for (const Overrides& plan : kPlans) {
    const Case c = plan_case(plan);
    CAPTURE(plan_text(c.experiment.plan));
    CHECK(totals_of(c).attention_bytes == Approx(bytes).epsilon(1e-9));
  }
}

TEST_CASE("weights on all ranks are the checkpoint plus what the plan repeats", "[property]") {
  const Case c = plan_case({});
  auto experts_on_all = [&](const Overrides& plan) {
    const Case p = plan_case(plan);
    const Layout l = layout_of(p.experiment.plan, p.model);
    double sum = 0;
    for (int s = 0; s < l.pp; ++s) {
      RankOptions o;
      o.expert_ranks = l.moe_tp * l.moe_ep;
      o.first_layer = l.first_layer[static_cast<std::size_t>(s)];
      o.end_layer = l.first_layer[static_cast<std::size_t>(s) + 1];
      sum += l.ranks_per_stage() * weights_on_rank(p.model, p.weights(), l.tp, o).main[index(TensorClass::routed_experts)];
    }
    return sum;
  };
  const double once = checkpoint_bytes(c.model, c.weights()).main[index(TensorClass::routed_experts)];
  for (const Overrides& plan : kPlans) {
    const Layout l = layout_of(plan_case(plan).experiment.plan, c.model);
    const double copies = l.experts_across_groups ? 1 : l.dp;  // groups with experts of their own repeat them
    CHECK(experts_on_all(plan) == Approx(once * copies).epsilon(1e-9));
  }
}

TEST_CASE("folding changes no plan's step", "[property]") {
  for (const Overrides& plan : kPlans) {
    const Case c = plan_case(plan);
    CAPTURE(plan_text(c.experiment.plan));
    LowerOptions folded, unfolded;
    unfolded.fold = false;
    const Lowered one = lower_step(c, folded), all = lower_step(c, unfolded);
    const Timeline a = run(one.program, one.resources, Sharing::alone), b = run(all.program, all.resources, Sharing::alone);
    CHECK(a.makespan - step_start(one, a) == b.makespan - step_start(all, b));
  }
}

TEST_CASE("the cache splits over decode-context ranks and the capacity grows with them", "[property]") {
  Diagnostics warnings;
  double before = 0;
  for (const char* dcp : {"1", "2", "4", "8"}) {
    const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"), {{"plan.dcp", dcp}, {"batch.context", "32768"}, {"batch.sequences", "8"}}, warnings);
    const Result r = evaluate(c, {false, true});
    if (before > 0) CHECK(r.memory.kv_capacity_tokens == Approx(2 * before).epsilon(1e-5));
    before = r.memory.kv_capacity_tokens;
  }
}

TEST_CASE("a slow GPU slows every rank that waits for it", "[property]") {
  const Case nominal = plan_case({});
  const Case slow = plan_case({{"degrade", "[{gpu: 5, speed: 0.5}]"}});
  LowerOptions o;
  const Lowered a = lower_step(nominal, o), b = lower_step(slow, o);
  const double t0 = to_ms(run(a.program, a.resources, Sharing::max_min).makespan), t1 = to_ms(run(b.program, b.resources, Sharing::max_min).makespan);
  CHECK(t1 > 1.3 * t0);   // kernels take twice as long, collectives do not
  CHECK(t1 < 2.0 * t0);
}

TEST_CASE("what groups cost each other on shared links has a time and a link", "[property]") {
  // Two groups of 4, one per socket: all-gathers between them cross the socket link at the same time.
  const Case c = plan_case({{"plan.tp", "4"}, {"plan.dp", "2"}, {"plan.ep", "8"}});
  const Result r = evaluate(c, {false});
  REQUIRE(r.contention_ms > 0);
  CHECK(r.links.front().name.find("rc") == 0);
  CHECK(r.links.front().cost_ms == Approx(r.contention_ms).epsilon(0.01));
  // Flows that nobody disturbs take what the closed form says.
  const double alone_ms = step_ms(c, {}, Sharing::alone);
  CHECK(r.step_ms - r.contention_ms == Approx(alone_ms).epsilon(0.001));
}

TEST_CASE("a collective beside travelling tokens is flows, one that nobody can meet is not", "[property]") {
  const auto flows = [](const Overrides& plan) { return run(lower_step(plan_case(plan), {}).program,
                                                            lower_step(plan_case(plan), {}).resources, Sharing::max_min).solves; };
  CHECK(flows({{"plan.tp", "8"}}) == 0);
  CHECK(flows({{"plan.tp", "8"}, {"plan.overlap", "two_batch"}}) == 0);  // collectives take turns on one stream
  const Overrides travel{{"plan.tp", "4"}, {"plan.dp", "2"}, {"plan.ep", "8"}, {"stack.expert_exchange.by", "all_to_all"}};
  Overrides both = travel;
  both.push_back({"plan.overlap", "two_batch"});
  const auto is_reduce = [](const Case& c) {
    const Program p = lower_step(c, {}).program;
    int n = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      n += p.kind[OpId(i)] == Kind::transfer && p.category[OpId(i)] == Category::all_reduce ? 1 : 0;
    return n;
  };
  CHECK(is_reduce(plan_case(travel)) == 0);
  CHECK(is_reduce(plan_case(both)) > 0);
}
