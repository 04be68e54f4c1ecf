// The published claims: every verdict as recorded. A verdict that changes is news; say why in the commit.
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "program.hpp"

using namespace moe;

TEST_CASE("every published claim has the verdict on record", "[golden]") {
  const auto r = test::moe_sim("run experiments/claims/*.yaml --json");
  REQUIRE(r.code == 0);
  std::string text;
  for (const auto& result : nlohmann::json::parse(r.out)) {
    REQUIRE_FALSE(result["claims"].empty());
    for (const auto& claim : result["claims"]) {
      const std::string verdict = claim["verdict"];
      CHECK(verdict.rfind("no answer", 0) != 0);
      text += result["experiment"].get<std::string>() + " | " + claim["claim"].get<std::string>() + " | " + verdict + "\n";
    }
  }
  test::check_golden("tests/golden/claims.txt", text);
}
