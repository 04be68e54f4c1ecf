// Real dumps and outputs beside the checkout: each is read, or refused with the reason.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "catch.hpp"
#include "import/nccl_tests.hpp"
#include "import/sketch.hpp"
#include "machine/load.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

std::map<std::string, std::string> samples(const std::string& folder) {
  std::map<std::string, std::string> texts;
  if (test::shared().empty()) {
    WARN("no ../shared: real samples are not here, nothing is read");
    return texts;
  }
  for (const auto& entry : std::filesystem::directory_iterator(test::shared() + "/samples/" + folder)) {
    std::ostringstream all;
    all << std::ifstream(entry.path()).rdbuf();
    texts[entry.path().filename().string()] = all.str();
  }
  return texts;
}

/// GPUs of the machine that comes out; 0: refused.
std::size_t gpus_of(const std::string& text, bool xml) {
  Diagnostics d;
  const Sketch s = xml ? read_nccl_topology(text, "dump", d) : read_topology_matrix(text, "dump", d);
  if (d.has_errors()) return 0;
  const Machine m = parse_machine(machine_text(s, "rtx-pro-6000"), "imported", d);
  INFO(d.render());
  CHECK_FALSE(d.has_errors());
  return m.gpus.size();
}

/// "8x-..." in a file name.
std::size_t count_in(const std::string& name) { return static_cast<std::size_t>(std::stoi(name.substr(name.find('-') + 1))); }

}  // namespace

TEST_CASE("topology matrices of real machines", "[validation]") {
  for (const auto& [name, text] : samples("nvidia_smi_topo")) {
    INFO(name);
    const bool negative = name.find("NOT-topo") != std::string::npos;
    CHECK(gpus_of(text, false) == (negative ? 0 : count_in(name)));
  }
}

TEST_CASE("NCCL dumps of real machines: NVIDIA's are read, others are refused", "[validation]") {
  const std::map<std::string, std::size_t> expected{{"01", 0}, {"02", 8}, {"03", 8}, {"06", 4}, {"07", 8},
                                                    {"09", 8}, {"10", 8}, {"19", 4}, {"22", 0}};
  for (const auto& [name, text] : samples("nccl_topo_xml")) {
    INFO(name);
    const auto found = expected.find(name.substr(0, 2));
    CHECK(gpus_of(text, true) == (found == expected.end() ? 0 : found->second));  // the rest comes from RCCL
    for (std::size_t n = 0; n < text.size(); n += 97) (void)gpus_of(text.substr(0, n), true);
  }
  for (const auto& [name, text] : samples("nccl_graph_xml")) CHECK(gpus_of(text, true) == 0);
}

TEST_CASE("lspci trees of real machines name their GPUs' root buses", "[validation]") {
  for (const auto& [name, text] : samples("lspci_tree")) {
    Diagnostics d;
    Sketch s;
    add_lspci(text, name, s, d);
    INFO(name << d.render());
    CHECK_FALSE(d.has_errors());
  }
}

TEST_CASE("nccl-tests outputs of real machines", "[validation]") {
  const std::map<std::string, std::pair<int, std::size_t>> expected{
      {"01", {2, 9}}, {"02", {16, 4}}, {"04", {8, 4}}, {"06", {16, 16}}, {"08", {2, 2}}};
  for (const auto& [name, text] : samples("nccl_tests")) {
    INFO(name);
    Diagnostics d;
    const auto [gpus, rows] = expected.at(name.substr(0, 2));
    const auto read = read_nccl_tests(text, name, name.starts_with("06") || name.starts_with("08") ? gpus : 0, d);
    INFO(d.render());
    CHECK_FALSE(d.has_errors());
    CHECK(read.size() >= rows);
    for (const auto& r : read) {
      CHECK(r.gpus == gpus);
      CHECK(r.op == "all_reduce");
    }
  }
}
