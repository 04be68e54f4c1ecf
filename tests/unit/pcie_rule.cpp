// Each correction of PCIe links by itself, on machines small enough to count by hand.
#include "network/pcie_rule.hpp"

#include "catch.hpp"
#include "shipped_machines.hpp"
#include "network/flows.hpp"

using namespace moe;

namespace {

double total(const Machine& m, const std::string& flows, bool reads = false) {
  FlowOptions o;
  o.reads = reads;
  return play_flows(m, Routes(m), parse_flows(flows, static_cast<int>(m.gpus.size())), o).total_GBps;
}

}  // namespace

TEST_CASE("a FIFO input keeps less the more contended outputs it serves", "[unit]") {
  CHECK(head_of_line(0) == 1);
  CHECK(head_of_line(1) == 1);
  CHECK(head_of_line(2) == 0.75);
  for (int d = 2; d < 20; ++d) CHECK(head_of_line(d) >= head_of_line(d + 1));
  CHECK(head_of_line(100) == Approx(2 - std::sqrt(2)).epsilon(1e-3));  // the limit for many outputs
}

TEST_CASE("a port loses nothing while nobody competes for its outputs", "[unit]") {
  const PcieFactors f;
  CHECK(port_share({3, false, false, 0}, f, true) == 1);
  CHECK(port_share({1, true, true, 1}, f, true) == 1);
  CHECK(port_share({3, true, false, 0}, f, true) == Approx(0.6825));
  CHECK(port_share({3, true, true, 0}, f, true) == Approx(0.6825 * f.second_stage));
  CHECK(port_share({3, true, false, 3}, f, true) == f.read_fan_out);
  CHECK(port_share({3, true, false, 3}, f, false) == Approx(0.6825));
}

TEST_CASE("an uplink collapses only on a board that does, and only under writes to two root ports", "[unit]") {
  Machine m;
  m.posted_write_collapse = true;
  CHECK(uplink_Bps(40e9, {0, 2, 2, 0, 0}, m) == m.pcie.collapse_GBps * 1e9);
  CHECK(uplink_Bps(40e9, {0, 1, 2, 0, 0}, m) == 40e9);
  CHECK(uplink_Bps(40e9, {0, 2, 1, 0, 0}, m) == 40e9);
  m.posted_write_collapse = false;
  CHECK(uplink_Bps(40e9, {0, 2, 2, 0, 0}, m) == 40e9);
  CHECK(uplink_Bps(40e9, {2, 2, 2, 0, 0}, m) == Approx(40e9 * (1 - 0.25 * m.pcie.uplink_blocking)));
}

TEST_CASE("both directions at once: the duplex share on every port", "[unit]") {
  const Machine m = test::machine("wrx90-grpA");
  CHECK(total(m, "0>4,4>0") == Approx(2 * 56.3 * 0.971));
  CHECK(total(m, "0>4") == Approx(56.3));
}

TEST_CASE("four GPUs on one switch, all to all: 4 x 53.8 x 0.971 x h(3)", "[unit]") {
  CHECK(total(test::machine("wrx90-2sw-flat"), "0-3>0-3") == Approx(4 * 53.8 * 0.971 * 0.6825));
}

TEST_CASE("the collapsing board: two sources, one uplink, two root ports", "[unit]") {
  const Machine m = test::machine("asus-bcm");
  CHECK(total(m, "0>4,1>6") == Approx(m.pcie.collapse_GBps));
  CHECK(total(m, "0>4,2>6") == Approx(2 * 38.5));   // two uplinks
  CHECK(total(m, "0>4,1>5") == Approx(38.5));       // one root port
  CHECK(total(m, "0>4,1>6", true) == Approx(38.5)); // reads
  CHECK(total(m, "0>4,1>5,2>6,3>7,4>0,5>1,6>2,7>3") == Approx(82));  // the socket limit of both directions
}

TEST_CASE("reads by several GPUs from one Microchip port are slow, by one GPU they are not", "[unit]") {
  const Machine m = test::machine("turin-16g-cpayne");
  CHECK(total(m, "0>1", true) == Approx(56.4));
  CHECK(total(m, "0-3>0-3", true) == Approx(4 * 56.4 * 0.971 * m.pcie.read_fan_out));
}

TEST_CASE("the order of the flows changes nothing", "[unit]") {
  const Machine m = test::machine("wrx90-3sw");
  CHECK(total(m, "0>4,1>6,2>5,7>3,0>2") == Approx(total(m, "0>2,7>3,2>5,1>6,0>4")).epsilon(1e-12));
}

TEST_CASE("the flow language says what is wrong", "[unit]") {
  CHECK(parse_flows("0>4, 1>5", 8) == std::vector<FlowPair>{{0, 4}, {1, 5}});
  CHECK(parse_flows("0>4*3,1>5", 8) == std::vector<FlowPair>{{0, 4, 3}, {1, 5, 1}});
  CHECK(parse_flows("0-1>0-2", 8).size() == 4);
  CHECK(parse_ranks("0-2,5", 8) == std::vector<int>{0, 1, 2, 5});
  for (const char* wrong : {"", ">", "0", "0>", "0>8", "3-1>4", "0>0", "0>-1", "a>b", "0>1>2", "0>1*", "0>1*0", "0>1*x", "0*2>1"})
    CHECK_THROWS_AS(parse_flows(wrong, 8), InputError);
  for (const char* wrong : {"", "0,0", "9", "2-0", "x"}) CHECK_THROWS_AS(parse_ranks(wrong, 8), InputError);
}
