// From a finished step to the answer: parts that add up, intervals, claims, and the keys of result.json.
#include "report/result.hpp"

#include <set>

#include "catch.hpp"
#include "report/json.hpp"
#include "report/keys.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

Case kimi(const Overrides& overrides = {}) {
  Diagnostics found;
  return load_case(test::experiment("kimi-k2.5-int4-tp8"), overrides, found);
}

Result quick(const Case& c) {
  EvaluateOptions o;
  o.what_if = false;
  return evaluate(c, o);
}

/// Dotted names of all keys; items of a list share `[]`; maps with free keys stop at their name.
void collect(const nlohmann::ordered_json& j, const std::string& path, std::set<std::string>& out) {
  static const std::set<std::string> kFree{"breakdown_ms", "inputs.resolved", "claims[].set", "claims[].against"};
  if (j.is_array()) {
    for (const auto& item : j)
      if (item.is_object()) collect(item, path + "[]", out);
  } else if (j.is_object() && kFree.count(path) == 0) {
    for (const auto& [key, value] : j.items()) {
      const std::string name = path.empty() ? key : path + "." + key;
      out.insert(name);
      collect(value, name, out);
    }
  }
}

}  // namespace

TEST_CASE("the parts of a step add up to it", "[unit]") {
  const Result r = quick(kimi({{"steps", "3"}, {"batch.sequences", "8"}}));
  double parts = 0, steps = 0;
  for (const double p : r.breakdown_ms) parts += p;
  for (const double s : r.steps_ms) steps += s;
  CHECK(r.steps_ms.size() == 3);
  CHECK(parts == Approx(r.step_ms));
  CHECK(steps / 3 == Approx(r.step_ms));
  CHECK(r.tokens_per_s == Approx(8 / (r.step_ms * 1e-3)));
  CHECK(r.tokens_per_s_per_sequence * 8 == Approx(r.tokens_per_s));
}

TEST_CASE("a step is never below its memory floor, and replicas raise the floor", "[unit]") {
  for (const char* sequences : {"1", "64"}) {
    const Result r = quick(kimi({{"batch.sequences", sequences}}));
    CHECK(r.step_ms > r.theoretical_min_ms);
    CHECK(r.theoretical_min_ms > r.theoretical_min_unreplicated_ms);
  }
}

TEST_CASE("the interval adds up independent causes as squares, in ln(step)", "[unit]") {
  Case c = kimi();
  c.stack.published = {{4, 0.9, 1.2}};
  const Result r = quick(c);
  // One token: no pick falls on an active expert, so routing adds nothing.
  double variance = std::pow(r.breakdown_ms[static_cast<std::size_t>(Category::host)] * 0.33, 2);
  for (const PathUse& p : r.paths) variance += std::pow(p.time_us * 1e-3 * p.spread, 2);
  const double model = 1.645 * std::sqrt(variance) / r.step_ms;
  CHECK(r.interval_high_ms == Approx(r.step_ms * std::exp(std::hypot(model, std::log(1.2)))));
  CHECK(r.interval_low_ms == Approx(std::max(r.theoretical_min_ms, r.step_ms * std::exp(-std::hypot(model, std::log(0.9))))));
}

TEST_CASE("a build whose published steps are all slower widens the interval upwards only", "[unit]") {
  Case sure = kimi(), slow = kimi();
  sure.stack.published = {{1, 1, 1}};
  slow.stack.published = {{1, 1.05, 1.3}};
  const Result a = quick(sure), b = quick(slow);
  CHECK(b.step_ms == a.step_ms);
  CHECK(b.interval_low_ms == a.interval_low_ms);
  CHECK(b.interval_high_ms > 1.3 * b.step_ms);
}

TEST_CASE("an undocumented build, a stated unknown and alike tokens widen the interval", "[unit]") {
  const auto width = [](const Case& c) {
    const Result r = quick(c);
    return std::log(r.interval_high_ms / r.interval_low_ms);
  };
  Case known = kimi({{"batch.sequences", "64"}});
  known.stack.published.clear();
  Case undocumented = known, unknown = known;
  undocumented.stack.documented = false;
  unknown.experiment.unknown = {{"which host", 0.2}};
  CHECK(known.stack.documented);
  CHECK(width(undocumented) > width(known));
  CHECK(width(unknown) > width(known));
  // 64 tokens: experts may be touched by fewer or more; one token has no such doubt.
  CHECK(quick(known).spread > quick(kimi()).spread);
}

TEST_CASE("launching kernels is surer than the gap between graphs", "[unit]") {
  // 61 layers of 1.08 ms, seen between 1.03 and 1.13: the interval is about +-5 % wide, not +-54 % as a graph
  // gap's.
  const Result r = quick(kimi({{"stack", "sglang-2026-01-eager"}}));
  CHECK(1.645 * r.spread > 0.03);
  CHECK(1.645 * r.spread < 0.10);
}

TEST_CASE("a plausible similarity widens the interval downwards only", "[unit]") {
  const Result plain = quick(kimi({{"batch.sequences", "64"}}));
  const Result wide = quick(kimi({{"batch.sequences", "64"}, {"routing.similarity", "[0, 0.6]"}}));
  CHECK(wide.step_ms == plain.step_ms);
  CHECK(wide.interval_high_ms == plain.interval_high_ms);
  CHECK(wide.interval_low_ms < plain.interval_low_ms);
}

TEST_CASE("a claim holds within its tolerance, absolute or relative, and a refuted one is an answer",
          "[unit]") {
  const double step = quick(kimi()).step_ms;
  Case c = kimi();
  c.experiment.claims = {
      {"step_ms", step + 0.1, 0.2, false, "a", ""},  {"step_ms", step + 0.3, 0.2, false, "b", ""},
      {"step_ms", step * 1.04, 0.05, true, "c", ""}, {"step_ms", step * 1.06, 0.05, true, "d", ""},
      {"share.experts", 0.5, 1, true, "e", ""},      {"gap_to_min", 1, 100, false, "f", ""}};
  const Result r = quick(c);
  REQUIRE(r.claims.size() == 6);
  CHECK(r.claims[0].holds);
  CHECK_FALSE(r.claims[1].holds);
  CHECK(r.claims[2].holds);
  CHECK_FALSE(r.claims[3].holds);
  CHECK(r.claims[4].simulated ==
        Approx(r.breakdown_ms[static_cast<std::size_t>(Category::experts)] / r.step_ms));
  CHECK(r.claims[5].simulated == Approx(r.step_ms / r.theoretical_min_ms));
}

TEST_CASE("every known metric can be claimed", "[unit]") {
  Case c = kimi();
  for (const std::string& metric : known_metrics())
    c.experiment.claims.push_back({metric, 0, 1, false, "x", ""});
  CHECK(quick(c).claims.size() == known_metrics().size());
}

TEST_CASE("half the time for everything at least halves no step: blame is not benefit", "[unit]") {
  const Case c = kimi();
  const double step = quick(c).step_ms;
  const Result r = evaluate(c);
  REQUIRE(r.what_if.size() > 5);
  for (const WhatIf& w : r.what_if) {
    INFO(w.name);
    CHECK(w.step_ms <= step * (1 + 1e-9));
    CHECK(w.step_ms >= step / 2);
  }
}

TEST_CASE("every key of result.json is explained, and every explained key exists", "[unit]") {
  const test::Folder folder;
  const std::string text = test::read_file(test::experiment("kimi-k2.5-int4-tp8")) +
                           "expect: [{metric: gain.step_ms, source: x, set: {batch.sequences: 2}, against: {batch.sequences: 4}}]\n"
                           "what_if: [{name: a, faster: {links: 2}}, {name: b, set: {plan.tp: 3}}]\n";
  Diagnostics found;
  const Case c = load_case(folder.write("e.yaml", text), {}, found);
  std::set<std::string> written, explained;
  collect(to_ordered_json(c, evaluate(c)), "", written);
  const Case drafts = load_case(test::experiment("speculation-kimi-k2.5-int4-eagle3"), {{"batch.remaining", "100"}}, found);
  collect(to_ordered_json(drafts, evaluate(drafts)), "", written);
  for (const ResultKey& k : result_keys()) explained.insert(k.key);
  for (const std::string& key : written) {
    INFO(key);
    CHECK(explained.count(key) == 1);
  }
  for (const std::string& key : explained) {
    INFO(key);
    CHECK(written.count(key) == 1);
  }
}
