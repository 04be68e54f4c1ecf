// Plan search: the front, the odds, the flags.
#include "catch.hpp"
#include "model/load.hpp"
#include "search/flags.hpp"
#include "search/search.hpp"

using namespace moe;

namespace {
Candidate at(const char* plan, double user, double total) {
  Candidate c;
  c.plan = plan;
  c.user = user;
  c.total = total;
  return c;
}
}  // namespace

TEST_CASE("the front keeps what nobody beats in both", "[unit]") {
  const auto front = pareto_front({at("a", 10, 100), at("b", 50, 50), at("c", 40, 40), at("d", 10, 90), at("e", 60, 10)});
  REQUIRE(front.size() == 3);
  CHECK(front[0].plan == "e");
  CHECK(front[1].plan == "b");
  CHECK(front[2].plan == "a");
}

TEST_CASE("the odds are even for equal times and certain without spread", "[unit]") {
  CHECK(probability_faster(10, 9, 11, 10, 9, 11) == Approx(0.5));
  CHECK(probability_faster(10, 10, 10, 11, 11, 11) == 1);
  // ln(11/10) over the spread of two intervals of +-10 %: 0.0953 / hypot(s, s) with s = ln(11/9)/3.29 = 0.0610
  CHECK(probability_faster(10, 9, 11, 11, 9.9, 12.1) == Approx(0.865).margin(0.003));
}

TEST_CASE("every plan of the space is legal and uses all GPUs", "[unit]") {
  Diagnostics out;
  const Model model = load_model("models/kimi-k2.5.yaml", out);
  REQUIRE_FALSE(out.has_errors());
  const PlanSpace space = plan_space(model, model.checkpoints[0], 8);
  CHECK(space.axis.values.size() > 10);
  for (const auto& values : space.axis.values) {
    const Plan p = plan_of(values);
    CHECK(p.gpus() == 8);
    CHECK(broken_rules(p, model, model.checkpoints[0]).empty());
  }
}

TEST_CASE("launch flags name the draft", "[unit]") {
  Launchable w{"org/model", {}, 8, 4096, false, 0};
  w.plan.tp = 8;
  w.speculation.k = 3;
  w.speculation.method = Speculation::Method::mtp;
  CHECK(vllm_flags(w).command.find("--speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'") != std::string::npos);
  CHECK(sglang_flags(w).command.find("--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 "
                                     "--speculative-num-draft-tokens 4") != std::string::npos);
  w.speculation.method = Speculation::Method::eagle3;
  w.draft_repository = "org/head";
  CHECK(vllm_flags(w).command.find("\"method\": \"eagle3\", \"num_speculative_tokens\": 3, \"model\": \"org/head\"") != std::string::npos);
  CHECK(sglang_flags(w).command.find("--speculative-algorithm EAGLE3 --speculative-draft-model-path org/head") != std::string::npos);
  w.speculation.adaptive = {{4, 3}, {16, 0}};  // no drafts at this batch: no flags
  CHECK(vllm_flags(w).command.find("speculative") == std::string::npos);
  CHECK(sglang_flags(w).command.find("speculative") == std::string::npos);
}

TEST_CASE("a plan becomes the flags of both engines", "[unit]") {
  Launchable w{"org/model", {}, 64, 16384, true, 0.9};
  w.plan.tp = 4;
  w.plan.dp = 2;
  w.plan.ep = 8;
  CHECK(vllm_flags(w).command ==
        "vllm serve org/model --tensor-parallel-size 4 --data-parallel-size 2 --enable-expert-parallel --kv-cache-dtype fp8 "
        "--max-num-seqs 32 --max-model-len 16384 --gpu-memory-utilization 0.90");
  CHECK(sglang_flags(w).command ==
        "python3 -m sglang.launch_server --model-path org/model --tp-size 8 --dp-size 2 --enable-dp-attention --ep-size 8 "
        "--kv-cache-dtype fp8_e4m3 --max-running-requests 64 --context-length 16384 --mem-fraction-static 0.90");
  CHECK(vllm_flags(w).notes.empty());
  w.plan.replicas = 2;
  CHECK(vllm_flags(w).notes.size() == 1);
}
