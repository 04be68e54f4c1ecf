// moe-sim validate: reading measurements, mapping words to experiments, statistics.
#include "catch.hpp"
#include "validate/groups.hpp"
#include "validate/mapping.hpp"
#include "validate/measured.hpp"

using namespace moe;

namespace {

const CsvRules kRules{{"id", "model", "tp", "metric", "concurrency"}, {"value", "spec", "notes"}, {"tp", "concurrency", "value"}};

CsvTable table(const std::string& text, Diagnostics& out) { return parse_csv(text, "m.csv", kRules, out); }

Mapping mapping(const std::string& steps, Diagnostics& out) {
  const std::string text =
      "schema: 1\ncolumns:\n  required: [id, model, tp, metric, concurrency]\n  optional: [value, spec, notes]\n"
      "  numbers: [tp, concurrency, value]\nstart: {profile: p, plan.tp: \"{tp}\", batch.sequences: \"{concurrency}\"}\nsteps:\n" +
      steps;
  return read_mapping(parse_document(text, "map.yaml", out), out);
}

ValidatedRow row(double measured, double simulated, double low, double high) {
  ValidatedRow r;
  r.measured_ms = measured;
  r.simulated_ms = simulated;
  r.low_ms = low;
  r.high_ms = high;
  r.simulated = true;
  r.batch = 1;
  return r;
}

}  // namespace

TEST_CASE("quoted cells hold commas, quotes and line ends", "[unit]") {
  Diagnostics out;
  const CsvTable t = table("id,model,tp,metric,concurrency,notes\r\na,\"K, two\",8,step_ms,1,\"he said \"\"no\"\"\nthen yes\"\r\nb,M,4,step_ms,2,\n", out);
  INFO(out.render());
  CHECK_FALSE(out.has_errors());
  REQUIRE(t.rows.size() == 2);
  CHECK(t.text(t.rows[0], "model") == "K, two");
  CHECK(t.text(t.rows[0], "notes") == "he said \"no\"\nthen yes");
  CHECK(t.rows[1].line == 4);
  CHECK(t.text(t.rows[1], "value").empty());  // the column is absent
}

TEST_CASE("what is wrong with a measurement file is said with its place, all at once", "[unit]") {
  Diagnostics out;
  table("id,model,tp,metric,conc\na,M,eight,step_ms,1\nb,M,4,step_ms\nc,\"M,4,step_ms,1\n", out);
  const std::string said = out.render();
  CHECK(out.error_count() == 5);  // column, number, cells of line 3, open quote, cells of line 4
  CHECK(said.find("the column `concurrency` is missing") != std::string::npos);
  CHECK(said.find("m.csv:2:5") != std::string::npos);
  CHECK(said.find("`eight` is not a number") != std::string::npos);
  CHECK(said.find("4 cells, the header has 5") != std::string::npos);
  CHECK(said.find("m.csv:4:3") != std::string::npos);
}

TEST_CASE("an empty file and a missing file are errors", "[unit]") {
  Diagnostics empty, missing;
  parse_csv("", "m.csv", kRules, empty);
  read_csv("/no/such/file.csv", kRules, missing);
  CHECK(empty.has_errors());
  CHECK(missing.has_errors());
}

TEST_CASE("the first rule that matches answers; slots take the row's text", "[unit]") {
  Diagnostics out;
  const Mapping m = mapping("  - name: model\n    rules:\n"
                            "      - {when: {model: '^Kimi-K2\\.(\\d)'}, set: {model: 'kimi-k2.{model.1}'}}\n"
                            "      - {when: {model: Kimi}, set: {model: other}}\n"
                            "      - {when: {model: Secret}, reject: 'no shapes of {model}'}\n"
                            "    otherwise: 'what is {model}?'\n"
                            "  - name: stack\n    every: true\n    rules:\n"
                            "      - {set: {stack: s, stack.launch.graph: eager}}\n"
                            "      - {when: {spec: x}, set: {stack: t}, unknown: which build, spread: 0.1}\n",
                            out);
  INFO(out.render());
  REQUIRE_FALSE(out.has_errors());
  const CsvTable t = table("id,model,tp,metric,concurrency,spec\na,Kimi-K2.6,8,step_ms,4,x\nb,Secret-1,8,step_ms,1,\nc,Llama,8,step_ms,1,\n", out);
  const MappedRow a = apply(m, t, t.rows[0]), b = apply(m, t, t.rows[1]), c = apply(m, t, t.rows[2]);
  CHECK(a.reject.empty());
  CHECK(a.experiment() == "schema: 1\nbatch:\n  sequences: 4\nmodel: kimi-k2.6\nplan:\n  tp: 8\nprofile: p\nstack: t\n"
                          "unknown:\n  - {what: \"which build\", spread: 0.1}\noverride:\n  stack.launch.graph: eager\n");
  CHECK(b.reject == "no shapes of Secret-1");
  CHECK(b.step == "model");
  CHECK(c.reject == "what is Llama?");
}

TEST_CASE("a mapping that names what does not exist is refused", "[unit]") {
  Diagnostics out;
  mapping("  - name: a\n    rules:\n"
          "      - {when: {modle: x}, set: {modl: y}}\n"
          "      - {when: {model: '('}, set: {model: '{model.2}'}}\n"
          "      - {set: {model: '{engine}'}, unknown: something}\n",
          out);
  const std::string said = out.render();
  CHECK(said.find("`modle` is not one of the columns") != std::string::npos);
  CHECK(said.find("did you mean `model`?") != std::string::npos);
  CHECK(said.find("`modl` is not a key of an experiment") != std::string::npos);
  CHECK(said.find("`(` is not a regular expression") != std::string::npos);
  CHECK(said.find("names a group that the pattern of `model` does not have") != std::string::npos);
  CHECK(said.find("`engine` is not one of the columns") != std::string::npos);
  CHECK(said.find("`unknown` and `spread` go together") != std::string::npos);
}

TEST_CASE("the shipped mapping has no errors", "[unit]") {
  Diagnostics out;
  const Mapping m = load_mapping("calibration/mappings/decode.yaml", out);
  INFO(out.render());
  CHECK_FALSE(out.has_errors());
  CHECK(m.steps.size() > 10);
}

TEST_CASE("metrics become milliseconds", "[unit]") {
  Diagnostics out;
  const CsvTable t = table("id,model,tp,metric,concurrency,value\na,M,8,output_tok_s_total,8,400\nb,M,8,decode_tok_s_per_user,8,50\n"
                           "c,M,8,tpot_ms,8,20\nd,M,8,step_ms,8,21\ne,M,8,ttft_ms,8,21\nf,M,8,output_tok_s_total,,400\ng,M,8,step_ms,1,-3\nh,M,8,step_ms,1,\n", out);
  CHECK(measured_of(t, t.rows[0]).ms == Approx(20));  // 8 users / 400 tokens/s
  CHECK(measured_of(t, t.rows[1]).ms == Approx(20));  // 1 / 50 tokens/s
  CHECK(measured_of(t, t.rows[2]).ms == Approx(20));
  CHECK(measured_of(t, t.rows[3]).ms == Approx(21));
  CHECK(measured_of(t, t.rows[3]).per_step);
  for (const int bad : {4, 5, 6}) CHECK_FALSE(measured_of(t, t.rows[static_cast<std::size_t>(bad)]).problem.empty());
  CHECK(measured_of(t, t.rows[7]).ms == 0);
  CHECK(measured_of(t, t.rows[7]).problem.empty());
}

TEST_CASE("statistics of a group", "[unit]") {
  // errors +10, -20, +30, -40 %; the first two lie in their intervals
  const std::vector<ValidatedRow> rows{row(10, 11, 9, 12), row(10, 8, 7, 10), row(10, 13, 11, 14), row(10, 6, 5, 7)};
  std::vector<const ValidatedRow*> group;
  for (const ValidatedRow& r : rows) group.push_back(&r);
  const GroupStats s = stats_of("g", group);
  CHECK(s.median_pct == Approx(25));
  CHECK(s.mean_pct == Approx(25));
  CHECK(s.p90_pct == Approx(40));  // nearest rank: the 4th of 4
  CHECK(s.bias_pct == Approx(-5));
  CHECK(s.coverage90_pct == Approx(50));
  Validation v;
  v.rows = rows;
  v.rows[3].used_for_fit = "host floor";
  CHECK(group_stats(v).front().rows == 3);
  CHECK(group_stats(v).back().group == "fitted to=host floor");
  CHECK(worst_rows(v, 1).front() == &v.rows[3]);
}
