// The program file of a replay, and results beside a simulation.
#include "report/replay.hpp"

#include <map>
#include <set>

#include "catch.hpp"
#include "config/diagnostic.hpp"
#include "report/program.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

/// Mixtral-8x7B, two GPUs, 16 sequences; three layers are enough.
Case mixtral(Overrides set = {}) {
  set.emplace_back("layers", "3");
  Diagnostics found;
  return load_case(test::experiment("mixtral-8x7b-tp2"), set, found);
}

/// Results as `moe-calibrate replay` writes them, of a machine on which every step takes `factor` times as long.
nlohmann::ordered_json results_of(const Case& c, double factor) {
  const nlohmann::ordered_json p = program_json(c, recorded_step(c), "a step");
  nlohmann::ordered_json r;
  for (const char* key : {"name", "hash", "experiment", "model", "checkpoint", "stack", "layers", "ranks"}) r[key] = p[key];
  r["step_us"] = {{"median", factor * p["simulated"]["step_us"].get<double>()}};
  r["ops"] = {{{"name", "o_proj"}, {"alone_us", 30.0}, {"in_step_us", 33.0}}};
  return {{"schema", 1}, {"kind", "moe-calibrate replay"}, {"results", {r}}};
}

}  // namespace

TEST_CASE("a program says for every op on every rank what it runs on", "[unit]") {
  const Case c = mixtral();
  const nlohmann::ordered_json p = program_json(c, recorded_step(c), "a step");
  CHECK(p["layers"] == 3);
  CHECK(p["ranks"] == 2);
  std::map<int, int> ops;
  std::set<std::pair<int, std::string>> weights;
  int with_weights = 0, experts = 0;
  for (const auto& op : p["ops"]) {
    ++ops[op["rank"]];
    for (const int before : op["after"]) CHECK(before < op["id"]);
    if (op.contains("weights")) ++with_weights, weights.emplace(op["rank"], op["weights"]);
    if (op["class"] != "experts") continue;
    ++experts;
    int rows = 0;
    for (const int r : op["rows_per_expert"]) rows += r;
    CHECK(rows == 16 * 2);                         // 16 tokens choose 2 experts each; TP: every rank has a slice of all
    CHECK(op["sizes"]["intermediate"] == 14336 / 2);
  }
  CHECK(ops[0] == ops[1]);
  CHECK(experts == 3 * 2);                         // layers x ranks
  // qkv, o_proj, router and experts of three layers, and lm_head, on two ranks: each with memory of its own.
  CHECK(with_weights == 2 * (3 * 4 + 1));
  CHECK(weights.size() == static_cast<std::size_t>(with_weights));
}

TEST_CASE("the calls of a rank, with the gaps between them, are the whole step", "[unit]") {
  // One stream, tensor parallel: nothing on a rank overlaps, and both ranks do the same.
  const RecordedStep step = recorded_step(mixtral());
  double sum_us = 0;
  for (std::size_t i = 0; i < step.lowered.calls.size(); ++i)
    if (step.lowered.calls[i].rank == 0) sum_us += step.call_us[i];
  CHECK(sum_us == Approx(to_ms(step.timeline.makespan) * 1e3).epsilon(1e-9));
}

TEST_CASE("the hash of a program is of what runs, not of what it costs", "[unit]") {
  Case c = mixtral();
  const std::string hash = recorded_step(c).hash;
  const auto slower = std::make_shared<Profile>(*c.profile);
  for (auto& [name, path] : slower->dense_gemm) path.t0_us += 1;
  c.profile = slower;
  CHECK(recorded_step(c).hash == hash);
  CHECK(recorded_step(mixtral({{"batch.sequences", "17"}})).hash != hash);
  CHECK(recorded_step(mixtral({{"routing.seed", "2"}})).hash != hash);
}

TEST_CASE("a replay is compared with the program as it is lowered now", "[unit]") {
  const Case c = mixtral({{"batch.sequences", "8"}});
  nlohmann::ordered_json results = results_of(c, 1.25);
  std::vector<ReplayedStep> steps = compare_replay(results, "r.json", {});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].problem.empty());
  CHECK(steps[0].error_pct() == Approx(-20));      // 1 / 1.25 - 1
  CHECK(steps[0].sequences == 8);                  // carried as an override
  const ErrorSummary e = step_errors(steps, 2);
  CHECK(e.count == 1);
  CHECK(e.median_pct == Approx(20));
  CHECK(e.worst_pct == Approx(-20));
  CHECK(step_errors(steps, 1).count == 0);
  bool found = false;
  for (const ReplayedKernel& k : steps[0].kernels)
    if (k.name == "o_proj") found = k.calls == 3 && k.alone_us == 30 && k.in_step_us == 33;
  CHECK(found);
  CHECK(replay_text(steps).find("-20.0 %") != std::string::npos);
  CHECK(replay_markdown(steps, "p").find("**miss**") != std::string::npos);

  results["results"][0]["hash"] = "0";
  results["results"].push_back(results["results"][0]);
  results["results"][1]["refused"] = {"no kernel"};
  steps = compare_replay(results, "r.json", {});
  CHECK(steps[0].problem.find("another one") != std::string::npos);
  CHECK(steps[1].problem == "not executed: no kernel");
  CHECK(step_errors(steps, 0).count == 0);
}

TEST_CASE("the first rank alone is compared without its collectives", "[unit]") {
  const Case c = mixtral({{"batch.sequences", "8"}});
  nlohmann::ordered_json results = results_of(c, 1);
  const ReplayedStep whole = compare_replay(results, "r.json", {}).at(0);
  results["results"][0]["first_rank_alone"] = true;
  const std::vector<ReplayedStep> steps = compare_replay(results, "r.json", {});
  double reduced_us = 0, kernels_us = 0;
  for (const ReplayedKernel& k : whole.kernels) (k.category.starts_with("all_") ? reduced_us : kernels_us) += k.simulated_us;  // all_reduce, all_gather
  CHECK(reduced_us > 0);
  CHECK(steps[0].simulated_us == Approx(kernels_us));
  CHECK(step_errors(steps, 0).count == 0);         // it is no step
  CHECK(first_rank_errors(steps).count == 1);
  CHECK(replay_text(steps).find("rank 0 alone") != std::string::npos);
}

TEST_CASE("what is no replay result, or cannot be replayed, is said", "[unit]") {
  CHECK_THROWS_AS(compare_replay({{"kind", "x"}, {"schema", 1}}, "r.json", {}), InputError);
  CHECK_THROWS_AS(compare_replay({{"kind", "moe-calibrate replay"}, {"schema", 1}}, "r.json", {}), InputError);
  CHECK_THROWS_AS(recorded_step(mixtral({{"plan.tp", "1"}, {"plan.pp", "2"}})), InputError);
}

TEST_CASE("layers keeps the first ones, says so, and does not invent any", "[unit]") {
  Diagnostics found;
  CHECK(load_case(test::experiment("mixtral-8x7b-tp2"), {{"layers", "3"}}, found).model.layers.size() == 3);
  CHECK(found.render(false).find("only the first 3 of the 32 layers") != std::string::npos);
  CHECK_THROWS_AS(load_case(test::experiment("mixtral-8x7b-tp2"), {{"layers", "33"}}, found), InputError);
}
