// Dumps of machines, with what pastes and virtual machines do to them; and outputs of nccl-tests.
#include "catch.hpp"
#include "cost/collective.hpp"
#include "import/nccl_tests.hpp"
#include "import/sketch.hpp"
#include "machine/load.hpp"

using namespace moe;

namespace {

const std::string kFour =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tPIX\tNODE\tSYS\tPXB\t0-7\t0\t\tN/A\n"
    "GPU1\tPIX\t X \tNODE\tSYS\tPXB\t0-7\t0\t\tN/A\n"
    "GPU2\tNODE\tNODE\t X \tSYS\tNODE\t0-7\t0\t\tN/A\n"
    "GPU3\tSYS\tSYS\tSYS\t X \tSYS\t8-15\t1\t\tN/A\n"
    "NIC0\tPXB\tPXB\tNODE\tSYS\t X \n\nLegend:\n\n  X    = Self\n";

/// The machine of a matrix or an XML; fails the test on a diagnostic.
Machine imported(const std::string& text) {
  Diagnostics d;
  const Sketch s = text.find('<') != std::string::npos ? read_nccl_topology(text, "dump", d) : read_topology_matrix(text, "dump", d);
  INFO(d.render());
  REQUIRE_FALSE(d.has_errors());
  const std::string yaml = machine_text(s, "rtx-pro-6000");
  INFO(yaml);
  Machine m = parse_machine(yaml, "imported", d);
  INFO(d.render());
  REQUIRE_FALSE(d.has_errors());
  return m;
}

std::string refused(const std::string& text) {
  Diagnostics d;
  if (text.find('<') != std::string::npos) read_nccl_topology(text, "dump", d);
  else read_topology_matrix(text, "dump", d);
  REQUIRE(d.has_errors());
  return d.render();
}

P2pLevel level(const Machine& m, int a, int b) { return path_level(m, Routes(m).between_gpus(a, b)); }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kGpu0 = R"(<pci busid="0000:01:00.0" class="0x030200" vendor="0x10de" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="120" rank="0">)";
const std::string kGpu1 = R"(<pci busid="0000:02:00.0" class="0x030200" vendor="0x10de" link_speed="" link_width="0"><gpu dev="1" sm="120" rank="1">)";
const std::string kEnd = "</gpu></pci>";

std::string system_of(const std::string& body) {
  return R"(<system version="1"><cpu numaid="0" vendor="AuthenticAMD">)" + body + "</cpu></system>";
}

}  // namespace

TEST_CASE("a matrix gives switches, root complexes and sockets", "[unit]") {
  const Machine m = imported(kFour);
  CHECK(m.gpus.size() == 4);
  CHECK(level(m, 0, 1) == P2pLevel::same_switch);
  CHECK(level(m, 0, 2) == P2pLevel::host_bridge);
  CHECK(level(m, 0, 3) == P2pLevel::system);
  CHECK_FALSE(m.unvalidated.empty());
}

TEST_CASE("a matrix survives what a paste does to it", "[unit]") {
  const auto same = [](const std::string& text) {
    const Machine m = imported(text);
    return m.gpus.size() == 4 && level(m, 0, 1) == P2pLevel::same_switch && level(m, 1, 2) == P2pLevel::host_bridge &&
           level(m, 2, 3) == P2pLevel::system;
  };
  CHECK(same(replaced(kFour, "\tGPU0\tGPU1", "\t\033[4mGPU0\tGPU1")));       // colours
  CHECK(same(replaced(kFour, "\tGPU0\tGPU1", "[4mGPU0\tGPU1")));             // escape character lost
  CHECK(same(kFour.substr(1)));                                              // leading tab lost
  CHECK(same("$ nvidia-smi topo -m\n" + kFour));                             // prompt
  CHECK(same(replaced(kFour, "\t", "    ")));                                // tabs lost
  CHECK(same(replaced("# " + kFour, "\n", "\n# ")));                         // commented out
  CHECK(same(replaced(kFour, "\n", "\r\n")));                                // Windows
  CHECK(same(kFour.substr(0, kFour.find("NIC0\tPXB"))));                     // no NIC rows, no legend
  CHECK(same(replaced(replaced(kFour, "\t0-7\t0\t\tN/A", "  NUMA 0"), "\t8-15\t1\t\tN/A", "  NUMA 1")));
}

TEST_CASE("NVLink: a few links per pair are a mesh, many to everyone are switches", "[unit]") {
  const std::string pair = "  GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0  X NV2 0-23 N/A\nGPU1 NV2  X  0-23 N/A\n";
  const Machine mesh = imported(pair);
  CHECK(level(mesh, 0, 1) == P2pLevel::nvlink);
  CHECK(to_GBps(mesh.links.back().capacity) == Approx(50));
  const std::string three = "GPU0 GPU1 GPU2\nGPU0 X NV18 NV18\nGPU1 NV18 X NV18\nGPU2 NV18 NV18 X\n";
  const Machine switched = imported(three);
  CHECK(switched.devices.back().kind == DeviceKind::nvswitch);
  CHECK(to_GBps(switched.links.back().capacity) == Approx(450));
}

TEST_CASE("switches in a row hang on one upper switch", "[unit]") {
  const Machine m = imported("GPU0 GPU1 GPU2 GPU3\nGPU0 X PIX PXB PXB\nGPU1 PIX X PXB PXB\nGPU2 PXB PXB X PIX\nGPU3 PXB PXB PIX X\n");
  CHECK(level(m, 0, 1) == P2pLevel::same_switch);
  CHECK(level(m, 0, 2) == P2pLevel::cross_switch);
}

TEST_CASE("a matrix that is no matrix, or is cut, is refused with the place", "[unit]") {
  CHECK(has(refused("hello\n"), "no matrix of GPUs"));
  CHECK(has(refused(replaced(kFour, "PIX", "OK")), "topo -p2p"));
  CHECK(has(refused(kFour.substr(0, kFour.find("GPU2\tNODE"))), "`GPU2` has no row"));
  CHECK(has(refused(kFour.substr(0, kFour.find("SYS\tPXB\t0-7\t0\t\tN/A\nGPU2"))), "3 of 4 GPU cells"));
  CHECK(has(refused(replaced(kFour, "GPU2\tNODE\tNODE", "GPU2\tPHB\tNODE")), "but"));
  CHECK(has(refused(replaced(kFour, "GPU0\t X ", "GPU0\tPIX")), "diagonal"));
}

TEST_CASE("no prefix of a matrix or a dump brings the importer down", "[unit]") {
  const std::string xml = "<!-- c -->" + system_of(kGpu0 + R"(<nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>)" + kEnd + kGpu1 + kEnd);
  for (const std::string* text : {&kFour, &xml})
    for (std::size_t n = 0; n < text->size(); ++n) {
      Diagnostics d;
      const std::string cut = text->substr(0, n);
      const Sketch s = text == &xml ? read_nccl_topology(cut, "dump", d) : read_topology_matrix(cut, "dump", d);
      if (!d.has_errors()) parse_machine(machine_text(s, "x"), "imported", d);
    }
}

TEST_CASE("an XML dump gives bandwidths from its link speeds", "[unit]") {
  const Machine m = imported(system_of(kGpu0 + kEnd + kGpu1 + kEnd));
  CHECK(m.gpus.size() == 2);
  CHECK(m.pair_p2p_anywhere);
  CHECK(to_GBps(m.links.front().capacity) == Approx(56.4).epsilon(0.01));
  CHECK(pcie_GBps(16, 16) == Approx(pcie_GBps(32, 16) / 2));
}

TEST_CASE("NVLinks of a dump lead to a GPU, to a switch, or nowhere", "[unit]") {
  const auto link = [](const char* target, const char* type) {
    return std::string("<nvlink target=\"") + target + "\" count=\"4\" tclass=\"" + type + "\"/>";
  };
  const Machine mesh = imported(system_of(kGpu0 + link("0000:02:00.0", "0x030200") + kEnd + kGpu1 + link("0000:01:00.0", "0x030200") + kEnd));
  CHECK(level(mesh, 0, 1) == P2pLevel::nvlink);
  const Machine switched = imported(system_of(kGpu0 + link("fffffff:ff:ff.0", "0x068000") + kEnd + kGpu1 + link("0000:f0:00.0", "0x068000") + kEnd));
  CHECK(level(switched, 0, 1) == P2pLevel::nvlink);
  const Machine itself = imported(system_of(kGpu0 + link("0000:01:00.0", "0x030200") + kEnd + kGpu1 + kEnd));
  CHECK(level(itself, 0, 1) == P2pLevel::host_bridge);
}

TEST_CASE("a virtual bridge of 2.5 GT/s x1 does not throttle the GPU behind it", "[unit]") {
  const Machine m = imported(system_of(R"(<pci busid="a" class="0x060400" link_speed="2.5 GT/s PCIe" link_width="1">)" + kGpu0 + kEnd + "</pci>" +
                                       R"(<pci busid="b" class="0x060400"><pci busid="n" class="0x020700"/></pci>)" + kGpu1 + kEnd));
  for (const Link& l : m.links) CHECK(l.capacity > from_GBps(40));
}

TEST_CASE("a dump of another kind is refused with the reason", "[unit]") {
  CHECK(has(refused("<graphs version=\"1\"/>"), "not a topology"));
  CHECK(has(refused(kGpu0 + kEnd), "part of a dump"));
  CHECK(has(refused("<html/>"), "begins with <html>"));
  CHECK(has(refused(system_of("<pci busid=\"0000:00:16.0\"/>")), "says that it is a GPU"));
  CHECK(has(refused(system_of(R"(<pci busid="a" class="0x038000" vendor="0x1002"><gpu dev="0" gcn="906"/></pci>)")), "not NVIDIA's"));
  CHECK(has(refused(system_of(kGpu0 + "</gpu><gpu dev=\"0\" mlopart=\"1\">" + kEnd)), "partitions"));
  CHECK(has(refused(system_of(kGpu0 + kEnd + kGpu0 + kEnd)), "two GPUs have the bus id"));
  CHECK(has(refused(system_of(kGpu0 + kEnd).substr(0, 120)), "no complete XML"));
}

TEST_CASE("lspci names the root bus of each GPU and notices a cut tree", "[unit]") {
  Diagnostics d;
  Sketch s = read_topology_matrix(kFour, "topo", d);
  add_lspci("-+-[0000:c0]---01.0-[c1-c4]----00.0-[c2-c4]--+-00.0-[c3]----00.0  NVIDIA Corporation Device 2bb4\n"
            " |                                           \\-01.0-[c4]----00.0  NVIDIA Corporation GB202 High Definition Audio\n"
            " \\-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation Device 2bb4\n",
            "tree", s, d);
  CHECK_FALSE(d.has_errors());
  CHECK(has(d.render(), "shows 2 GPUs, the dump 4"));
  CHECK(has(s.inferred.back(), "0000:c0 (3 bridges), 0000:00 (1 bridges)"));
  add_lspci("nothing", "tree", s, d);
  CHECK(d.has_errors());
}

TEST_CASE("nccl-tests rows are read through prompts, tags and messages", "[unit]") {
  const std::string row = "  8388608  2097152  float  sum  -1  473.75  17.71  17.71  0  473.61  17.71  17.71  0\n";
  const auto read = [](const std::string& text, int gpus) {
    Diagnostics d;
    auto rows = read_nccl_tests(text, "out", gpus, d);
    return std::pair{rows, d};
  };
  const auto full = read("$ ./all_gather_perf -g 2\n# nThread 1 nGpus 2 minBytes 8\n#  Rank  0 Group  0 Pid 1 on h device  0 [0x1b] X\n"
                         "#  Rank  1 Group  0 Pid 1 on h device  1 [0x1c] X\nNCCL version 2.29\n" + row, 0);
  REQUIRE(full.first.size() == 1);
  CHECK(full.first[0].op == "all_gather");
  CHECK(full.first[0].gpus == 2);
  CHECK(full.first[0].latency_us == Approx(473.75));
  CHECK(read("[1,0]<stdout>:" + row, 8).first.at(0).gpus == 8);
  CHECK(read(row, 0).second.has_errors());                                    // how many ranks?
  CHECK(read("# Rank  0 Group 0 Pid 1 on a device 0\n# Rank 15 Group 0 Pid 1 on b device 7\n" + row, 0).first.at(0).gpus == 16);
  CHECK(read("1024 256 float none 0 12.5 0.1 0.1 0 N/A\n# alltoall_perf\n", 4).first.at(0).latency_us == 12.5);
  CHECK(read("hello", 2).second.has_errors());
  CHECK(has(collective_csv(full.first, "nccl"), "nccl,all_gather,float,2,8388608,473.75"));
}
