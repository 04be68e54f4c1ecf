// The key reference and the schemas in docs/ are what the declarations say today.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "cli/study_commands.hpp"

using namespace moe;

namespace {
std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
}  // namespace

TEST_CASE("docs/keys.md and docs/schemas are up to date: moe-sim docs docs", "[unit]") {
  const auto folder = std::filesystem::temp_directory_path() / "moe-sim-test-docs";
  std::filesystem::remove_all(folder);
  std::ostringstream out;
  CHECK(docs_command(folder.string(), {out, out}) == kAnswered);
  CHECK(content(folder / "keys.md") == content("docs/keys.md"));
  for (const auto& schema : std::filesystem::directory_iterator(folder / "schemas"))
    CHECK(content(schema.path()) == content(std::filesystem::path("docs/schemas") / schema.path().filename()));
  std::filesystem::remove_all(folder);
}
