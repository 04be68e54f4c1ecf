// What a wrong machine file gets told.
#include "machine/load.hpp"

#include <algorithm>

#include "catch.hpp"

using namespace moe;

namespace {

const std::string kGood = R"(schema: 1
summary: two GPUs behind one switch
gpu: rtx-pro-6000
devices:
  - {name: [gpu0, gpu1], kind: gpu, socket: 0}
  - {name: sw0, kind: pcie_switch, socket: 0}
links:
  - {from: [gpu0, gpu1], to: sw0, kind: port, bandwidth: 56 GB/s, latency: 0.1 us}
nccl:
  p2p_level: cross_switch
  communicators: [{up_to_ranks: 2, channels: 4, graph_bandwidth: 48 GB/s}]
)";

std::string with(std::string text, const std::string& old, const std::string& fresh) {
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

std::string told(const std::string& text) {
  Diagnostics d;
  parse_machine(text, "box.yaml", d);
  CHECK(d.has_errors());
  return d.render();
}

bool says(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a link entry counts for both directions and for every name in its lists", "[unit]") {
  Diagnostics d;
  const Machine m = parse_machine(kGood, "dir/box.yaml", d);
  CHECK(d.all().empty());
  CHECK(m.name == "box");
  CHECK(m.gpus == std::vector<int>{0, 1});
  REQUIRE(m.links.size() == 4);
  CHECK(m.links[0].name == "gpu0 → sw0");
  CHECK(m.links[1].name == "sw0 → gpu0");
  CHECK(to_GBps(m.links[3].capacity) == Approx(56));
  CHECK(m.links[3].latency.count() == Approx(1e-7));
  CHECK(m.nccl.at(0).graph_GBps == Approx(48));
}

TEST_CASE("a oneway link has one direction, and the GPU it leaves out cannot be reached", "[unit]") {
  const std::string text = told(with(kGood, "latency: 0.1 us}", "latency: 0.1 us, oneway: true}"));
  CHECK(says(text, "`gpu0` cannot reach `gpu1`"));
  CHECK(says(text, "the other GPU"));
}

TEST_CASE("an unknown device is reported with the place of the declarations", "[unit]") {
  const std::string text = told(with(kGood, "to: sw0", "to: sw1"));
  CHECK(says(text, "error: `sw1` is not a device of this machine"));
  CHECK(says(text, "box.yaml:8:30  (links[0].to)"));
  CHECK(says(text, "did you mean `sw0`?"));
  CHECK(says(text, "devices are declared here"));
  CHECK(text.find("error:") == text.rfind("error:"));
}

TEST_CASE("two devices of one name are reported with both places", "[unit]") {
  const std::string text = told(with(kGood, "name: sw0", "name: gpu1"));
  CHECK(says(text, "two devices are called `gpu1`"));
  CHECK(says(text, "box.yaml:6:12"));
  CHECK(says(text, "box.yaml:5:19  the first is declared here"));
}

TEST_CASE("a link to itself and a repeated link are errors", "[unit]") {
  CHECK(says(told(with(kGood, "to: sw0", "to: gpu0")), "`gpu0` is linked to itself"));
  const std::string again =
      "links:\n  - {from: sw0, to: gpu1, kind: port, bandwidth: 1 GB/s, latency: 0 us, oneway: true}\n";
  const std::string text = told(with(kGood, "links:\n", again));
  CHECK(says(text, "`sw0` already has a link to `gpu1`"));
  CHECK(says(text, "the first is here"));
}

TEST_CASE("two opposite oneway links with different bandwidths are one asymmetric cable", "[unit]") {
  const std::string text = with(
      kGood, "  - {from: [gpu0, gpu1], to: sw0, kind: port, bandwidth: 56 GB/s, latency: 0.1 us}",
      "  - {from: [gpu0, gpu1], to: sw0, kind: port, bandwidth: 56 GB/s, latency: 0.1 us, oneway: true}\n"
      "  - {from: sw0, to: [gpu0, gpu1], kind: port, bandwidth: 28 GB/s, latency: 0.1 us, oneway: true}");
  Diagnostics d;
  const Machine m = parse_machine(text, "box.yaml", d);
  CHECK(d.all().empty());
  CHECK(m.links.size() == 4);
}

TEST_CASE("a GPU without a link is named", "[unit]") {
  CHECK(says(told(with(kGood, "[gpu0, gpu1], kind", "[gpu0, gpu1, gpu2], kind")), "`gpu2` has no link"));
}

TEST_CASE("GPUs that only meet through another GPU are not connected", "[unit]") {
  const std::string cable = "  - {from: gpu2, to: gpu1, kind: nvlink, bandwidth: 450 GB/s, latency: 0 us}\n";
  const std::string chain =
      with(with(kGood, "[gpu0, gpu1], kind", "[gpu0, gpu1, gpu2], kind"), "links:\n", "links:\n" + cable);
  CHECK(says(told(chain), "`gpu0` cannot reach `gpu2`"));
}

TEST_CASE("units, signs and inert values are checked", "[unit]") {
  CHECK(says(told(with(kGood, "56 GB/s", "56")), "a bandwidth needs a unit"));
  CHECK(says(told(with(kGood, "56 GB/s", "0.1 us")), "invalid bandwidth `0.1 us`"));
  CHECK(says(told(with(kGood, "56 GB/s", "-56 GB/s")), "`-56 GB/s` is out of range for `bandwidth`"));
  CHECK(says(told(with(kGood, "56 GB/s", "32 GT/s")), "GT/s is a lane signalling rate"));
  CHECK(says(told(with(kGood, "bandwidth: 56 GB/s, ", "")), "a link of kind `port` needs a bandwidth"));
  CHECK(says(told(kGood + "limits:\n  xgmi: {bandwidth: 82 GB/s}\n"), "no link names the limit `xgmi`"));
  CHECK(says(told(with(kGood, "0.1 us}", "0.1 us, limit: xgmi}")), "`xgmi` is not a limit of this machine"));
  CHECK(says(told(kGood + "gpu_speed: [1, 0.9, 1]\n"), "`gpu_speed` has 3 entries for 2 GPUs"));
  CHECK(says(told(with(kGood, "summary:", "sumary:")), "did you mean `summary`?"));
  CHECK(says(told(with(kGood, "kind: pcie_switch", "kind: switch")), "unknown value `switch` for `kind`"));
}

TEST_CASE("beliefs of NCCL ascend by communicator size", "[unit]") {
  const std::string entry = "{up_to_ranks: 2, channels: 4, graph_bandwidth: 48 GB/s}";
  CHECK(says(told(with(kGood, entry, entry + ", " + entry)), "`up_to_ranks` must ascend, but 2 follows 2"));
  CHECK(says(told(with(kGood, "[" + entry + "]", "[]")), "`communicators` must have at least one entry"));
}

TEST_CASE("what NCCL does may be left out for a single GPU only", "[unit]") {
  const std::string without = kGood.substr(0, kGood.find("nccl:"));
  CHECK(says(told(without), "missing key `nccl`"));
  Diagnostics d;
  parse_machine(with(with(without, "[gpu0, gpu1], kind", "gpu0, kind"), "[gpu0, gpu1]", "gpu0"), "box.yaml", d);
  CHECK(d.all().empty());
}

TEST_CASE("all mistakes of a file are reported in one pass", "[unit]") {
  std::string text = with(kGood, "56 GB/s", "56");
  text = with(text, "to: sw0", "to: sw9");
  text = with(text, "gpu: rtx", "gpus: rtx");
  text = with(text, "channels: 4", "channels: 0");
  Diagnostics d;
  parse_machine(text, "box.yaml", d);
  CHECK(d.error_count() >= 4);
}

TEST_CASE("a file that cannot be read is one error, not many", "[unit]") {
  Diagnostics d;
  load_machine("/nowhere/box.yaml", d);
  CHECK(d.error_count() == 1);
  CHECK(says(d.render(), "cannot read `/nowhere/box.yaml`"));
}

TEST_CASE("every key of a machine file is described with its unit", "[unit]") {
  const auto fields = describe_machine();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [](const FieldInfo& f) { return f.path == "links[].bandwidth"; });
  REQUIRE(found != fields.end());
  CHECK(found->type == "bandwidth");
  CHECK_FALSE(found->help.empty());
}
