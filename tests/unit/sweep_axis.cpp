// Axis grammar: what users write, and what they are told when it is wrong.
#include "catch.hpp"
#include "sweep/axis.hpp"
#include "sweep/grid.hpp"

using namespace moe;
using Texts = std::vector<std::string>;

namespace {
std::string complaint(const std::string& axis) {
  try {
    parse_axis(axis, sweepable_keys());
  } catch (const InputError& e) {
    return e.what();
  }
  return "no complaint";
}
}  // namespace

TEST_CASE("a range counts, multiplies or adds, and includes its end when the steps reach it", "[unit]") {
  CHECK(expand_values("1,2,4") == Texts{"1", "2", "4"});
  CHECK(expand_values("1..4") == Texts{"1", "2", "3", "4"});
  CHECK(expand_values("1..20x4") == Texts{"1", "4", "16"});
  CHECK(expand_values("1..9+4") == Texts{"1", "5", "9"});
  CHECK(expand_values("3,8..16x2") == Texts{"3", "8", "16"});
}

TEST_CASE("units stay with the numbers of a range; k is 1024 where the ends differ", "[unit]") {
  CHECK(expand_values("1k..8kx2") == Texts{"1k", "2k", "4k", "8k"});
  CHECK(expand_values("512..2kx2") == Texts{"512", "1024", "2048"});
  CHECK(expand_values("10 GB/s..20 GB/s+10 GB/s") == Texts{"10 GB/s", "20 GB/s"});
  CHECK(expand_values("0.5..1+0.25") == Texts{"0.5", "0.75", "1"});
}

TEST_CASE("commas inside brackets belong to one value", "[unit]") {
  CHECK(expand_values("[0,1],[2,3]") == Texts{"[0,1]", "[2,3]"});
}

TEST_CASE("the last component stands for its key, `batch` for batch.sequences", "[unit]") {
  const Texts known = sweepable_keys();
  CHECK(full_key("tp", known) == "plan.tp");
  CHECK(full_key("context", known) == "batch.context");
  CHECK(full_key("batch", known) == "batch.sequences");
  CHECK(full_key("stack.launch.host_per_step", known) == "stack.launch.host_per_step");
}

TEST_CASE("keys joined by a semicolon go together", "[unit]") {
  const Axis a = parse_axis("machine=a,b;profile=p,q", sweepable_keys());
  CHECK(a.keys == Texts{"machine", "profile"});
  CHECK(a.values == std::vector<Texts>{{"a", "p"}, {"b", "q"}});
}

TEST_CASE("a wrong axis says what would be right", "[unit]") {
  CHECK(complaint("plan.tq=1").find("did you mean `plan.tp`") != std::string::npos);
  CHECK(complaint("plan.tp").find("is not key=values") != std::string::npos);
  CHECK(complaint("plan.tp=8..1").find("it ends before it begins") != std::string::npos);
  CHECK(complaint("plan.tp=1..8x1").find("a factor above 1") != std::string::npos);
  CHECK(complaint("plan.tp=1,,2").find("empty value") != std::string::npos);
  CHECK(complaint("machine=a,b;profile=p").find("equally many values") != std::string::npos);
}

TEST_CASE("the first axis of a grid varies slowest", "[unit]") {
  Grid g;
  g.axes = {parse_axis("plan.tp=1,2", sweepable_keys()), parse_axis("batch=1,4,16", sweepable_keys())};
  CHECK(g.size() == 6);
  CHECK(g.point(0) == Overrides{{"plan.tp", "1"}, {"batch.sequences", "1"}});
  CHECK(g.point(4) == Overrides{{"plan.tp", "2"}, {"batch.sequences", "4"}});
  CHECK(g.text() == "plan.tp=1,2 x batch.sequences=1,4,16");
}

TEST_CASE("a value that its key cannot have is found before anything is computed", "[unit]") {
  const std::string file = "experiments/kimi-k2.5-int4-tp8.yaml";
  CHECK_THROWS_AS(read_study(file, {}, {"plan.tp=1,many"}), InputError);
  CHECK_THROWS_AS(read_study(file, {}, {"machine=turin-2s-direct,nowhere"}), InputError);
  CHECK_THROWS_AS(read_study(file, {}, {}), InputError);
}
