// The list of machines, as text and as JSON.
#include "report/list_machines.hpp"

#include "catch.hpp"
#include "machine/load.hpp"

using namespace moe;

namespace {

Machine load(const std::string& name) {
  Diagnostics d;
  Machine m = load_machine(std::string(MOE_SIM_SOURCE_DIR) + "/topologies/" + name + ".yaml", d);
  REQUIRE(d.all().empty());
  return m;
}

}  // namespace

TEST_CASE("a machine's line counts its parts and spans its pairs", "[unit]") {
  const MachineLine line = line_of(load("turin-2s-direct"));
  CHECK(line.gpus == 8);
  CHECK(line.sockets == 2);
  CHECK(line.switches == 0);
  CHECK(line.slowest_GBps == Approx(50.5));
  CHECK(line.fastest_GBps == Approx(52.7));
  CHECK(line.least_us == Approx(0.26));
  CHECK(line.most_us == Approx(0.52));
}

TEST_CASE("a single GPU has no pairs", "[unit]") {
  Machine alone;
  alone.name = "one", alone.gpu = "h200", alone.summary = "a single GPU";
  alone.devices = {{"gpu0", DeviceKind::gpu, 0, 0}};
  alone.gpus = {0};
  CHECK(machine_table({alone}) ==
        "name  gpu   gpus  sockets  switches  pair GB/s  pair us  summary\n"
        "one   h200     1        1         0          -        -  a single GPU\n");
}

TEST_CASE("columns are aligned over machines of different length", "[unit]") {
  CHECK(machine_table({load("turin-2s-direct"), load("h200x2-nvlink")}) ==
        "name             gpu           gpus  sockets  switches   pair GB/s     pair us  summary\n"
        "turin-2s-direct  rtx-pro-6000     8        2         0  50.5..52.7  0.26..0.52  "
        "8x RTX PRO 6000, two EPYC 9575F sockets, one root port per GPU, no switches\n"
        "h200x2-nvlink    h200             2        1         1       450.0        0.00  2x H200 SXM over NVSwitch\n");
}

TEST_CASE("JSON carries the same numbers and what was not measured", "[unit]") {
  const auto all = machine_json({load("wrx90-2sw-flat")});
  REQUIRE(all.size() == 1);
  CHECK(all[0]["gpus"] == 8);
  CHECK(all[0]["switches"] == 2);
  CHECK(all[0]["pair_us"][1].get<double>() == Approx(0.59));
  CHECK_FALSE(all[0]["unvalidated"].empty());
}
