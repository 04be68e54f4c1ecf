// Published decode steps: does a change make the simulator worse? The rows of decode_rows.csv are facts from public pages,
// picked by scripts/pick-decode-rows and not by how well they are predicted. The bounds are what the simulator reached when
// they were written, rounded up to the next multiple of five and five points more; some are wide because the simulator misses
// there (docs/accuracy.md).
#include <map>

#include "catch.hpp"
#include "validate/groups.hpp"

using namespace moe;

namespace {

/// Largest median of |error| in percent, by model, without and with drafts.
const std::map<std::string, double> kBounds{
    {"deepseek-v4-flash", 30},
    {"deepseek-v4-flash with drafts", 30},
    {"glm-5", 20},
    {"glm-5 with drafts", 20},
    {"glm-5.1", 25},
    {"glm-5.1 with drafts", 45},
    {"glm-5.2", 25},
    {"glm-5.2 with drafts", 15},
    {"kimi-k2-thinking", 20},
    {"kimi-k2.5", 15},
    {"kimi-k2.5 with drafts", 15},
    {"qwen3.5-122b-a10b", 25},
    {"qwen3.5-122b-a10b with drafts", 45},
    {"qwen3.5-397b-a17b", 20},
    {"qwen3.5-397b-a17b with drafts", 30}};

}  // namespace

TEST_CASE("published decode steps are met as well as before, model by model", "[validation]") {
  Diagnostics out;
  const Mapping m = load_mapping("calibration/mappings/decode.yaml", out);
  const CsvTable t = read_csv("tests/validation/decode_rows.csv", m.columns, out);
  INFO(out.render());
  REQUIRE_FALSE(out.has_errors());
  const Validation v = validate(m, t);
  CHECK(v.rows.size() >= 60);
  std::map<std::string, std::vector<const ValidatedRow*>> groups;
  std::vector<const ValidatedRow*> all;
  for (const ValidatedRow& r : v.rows) {
    INFO(r.id << ": " << r.reason);
    CHECK(r.compared());
    if (!r.compared()) continue;
    groups[r.model + (r.drafts > 0 ? " with drafts" : "")].push_back(&r);
    all.push_back(&r);
  }
  for (const auto& [name, rows] : groups) {
    const GroupStats s = stats_of(name, rows);
    INFO(name << ": " << s.rows << " rows, median " << s.median_pct << " %, bias " << s.bias_pct << " %");
    const auto bound = kBounds.find(name);
    CHECK(bound != kBounds.end());
    if (bound != kBounds.end()) CHECK(s.median_pct <= bound->second);
  }
  CHECK(stats_of("all", all).coverage90_pct >= 75);
}
