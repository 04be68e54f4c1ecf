// What people see: one answer, and what each kind of wrong input is told.
#include <algorithm>
#include <regex>

#include "golden/golden.hpp"
#include "program.hpp"

using namespace moe;
using test::moe_sim;

TEST_CASE("the answer to the Kimi experiment reads as recorded", "[golden]") {
  const auto r = moe_sim("run experiments/kimi-k2.5-int4-tp8.yaml");
  REQUIRE(r.code == 0);
  // The only number that differs from run to run is how long the simulation itself took.
  const std::string text = std::regex_replace(r.out, std::regex(" solves in [0-9.]+ ms"), " solves in … ms");
  test::check_golden("tests/golden/kimi-k2.5-int4-tp8.txt", text);
}

TEST_CASE("every kind of wrong input is told what is wrong, where, and what would be right", "[golden]") {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  for (const auto& e : fs::directory_iterator(test::root() + "/tests/golden/bad"))
    if (e.path().extension() == ".yaml" && e.path().filename().string().find("-file") == std::string::npos)
      names.push_back(e.path().stem().string());
  std::sort(names.begin(), names.end());
  REQUIRE(names.size() >= 12);
  for (const std::string& name : names) {
    const auto r = moe_sim("run tests/golden/bad/" + name + ".yaml");
    CHECK(r.out.empty());
    CHECK((r.code == 2 || r.code == 3));
    test::check_golden("tests/golden/bad/" + name + ".txt",
                       r.err + "exit code " + std::to_string(r.code) + "\n");
  }
}
