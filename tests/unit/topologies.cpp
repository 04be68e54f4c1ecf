// The machines that ship: every file loads cleanly, and every GPU reaches every other one and its host memory.
#include <algorithm>
#include <filesystem>
#include <set>

#include "catch.hpp"
#include "cost/collective.hpp"
#include "cost/load_gpu.hpp"
#include "machine/load.hpp"

using namespace moe;
namespace fs = std::filesystem;

namespace {

const std::string kRoot = MOE_SIM_SOURCE_DIR;

std::vector<std::string> files(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& e : fs::directory_iterator(kRoot + "/" + folder))
    if (e.path().extension() == ".yaml") found.push_back(e.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

Machine load(const std::string& file) {
  Diagnostics d;
  Machine m = load_machine(file, d);
  INFO(d.render());
  REQUIRE(d.all().empty());
  return m;
}

}  // namespace

TEST_CASE("every machine that ships loads without a diagnostic and says what was not measured", "[unit]") {
  REQUIRE(files("topologies").size() >= 4);
  for (const std::string& file : files("topologies")) {
    INFO(file);
    const Machine m = load(file);
    CHECK(m.name == fs::path(file).stem().string());
    CHECK_FALSE(m.summary.empty());
    CHECK_FALSE(m.unvalidated.empty());
    CHECK(fs::exists(kRoot + "/calibration/gpus/" + m.gpu + ".yaml"));
  }
}

TEST_CASE("every GPU of every machine has a route to every other one that passes through no GPU", "[unit]") {
  for (const std::string& file : files("topologies")) {
    INFO(file);
    const Machine m = load(file);
    const Routes routes(m);
    for (std::size_t a = 0; a < m.gpus.size(); ++a)
      for (std::size_t b = 0; b < m.gpus.size(); ++b) {
        if (a == b) continue;
        const Route& r = routes.between_gpus(static_cast<int>(a), static_cast<int>(b));
        REQUIRE_FALSE(r.links.empty());
        CHECK(m.links[static_cast<std::size_t>(r.links.front())].from == m.gpus[a]);
        CHECK(m.links[static_cast<std::size_t>(r.links.back())].to == m.gpus[b]);
        for (std::size_t i = 1; i < r.links.size(); ++i) {
          const int middle = m.links[static_cast<std::size_t>(r.links[i])].from;
          CHECK(middle == m.links[static_cast<std::size_t>(r.links[i - 1])].to);
          CHECK(m.devices[static_cast<std::size_t>(middle)].kind != DeviceKind::gpu);
        }
      }
  }
}

TEST_CASE("every GPU reaches some host memory on its own server", "[unit]") {
  for (const std::string& file : files("topologies")) {
    INFO(file);
    const Machine m = load(file);
    const Routes routes(m);
    for (const int g : m.gpus) {
      bool reaches = false;
      for (std::size_t d = 0; d < m.devices.size(); ++d)
        reaches = reaches || (m.devices[d].kind == DeviceKind::host_memory &&
                              m.devices[d].node == m.devices[static_cast<std::size_t>(g)].node &&
                              routes.reaches(g, static_cast<int>(d)));
      CHECK(reaches);
    }
  }
}

TEST_CASE("GPU pairs of the two-switch board are 0.20 us apart inside a switch and 0.59 us across", "[unit]") {
  const Machine m = load(kRoot + "/topologies/wrx90-2sw-flat.yaml");
  const Routes routes(m);
  CHECK(routes.between_gpus(0, 3).latency.count() == Approx(0.20e-6));
  CHECK(routes.between_gpus(0, 4).latency.count() == Approx(0.59e-6));
  CHECK(path_level(m, routes.between_gpus(0, 3)) == P2pLevel::same_switch);
  CHECK(path_level(m, routes.between_gpus(0, 4)) == P2pLevel::host_bridge);
}

TEST_CASE("the host-bounced machine forms the rings of the public table", "[unit]") {
  const Machine m = load(kRoot + "/topologies/pcie-2s-host-bounced.yaml");
  const Routes routes(m);
  const auto ring = [&](std::vector<int> gpus) { return communicator(m, routes, gpus); };
  const Communicator two = ring({0, 1}), four = ring({0, 1, 2, 3}), eight = ring({0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(two.hops == std::vector<Transport>(2, Transport::p2p_pair));
  CHECK(four.hops == std::vector<Transport>(4, Transport::shm));
  CHECK(std::count(eight.hops.begin(), eight.hops.end(), Transport::shm) == 6);
  CHECK(std::count(eight.hops.begin(), eight.hops.end(), Transport::shm_x) == 2);
  CHECK(two.channels == 4);
  CHECK(four.channels == 4);
  CHECK(eight.channels == 2);
  CHECK(eight.graph_GBps == Approx(20));
}

TEST_CASE("GPUs over NVSwitch talk over NVLink, not over their PCIe ports", "[unit]") {
  const Machine m = load(kRoot + "/topologies/h200x2-nvlink.yaml");
  const Communicator pair = communicator(m, Routes(m), {0, 1});
  CHECK(pair.hops == std::vector<Transport>(2, Transport::nvlink_pair));
  CHECK(pair.share_GBps == Approx(450));
}

TEST_CASE("machines named after a GPU have that GPU", "[unit]") {
  for (const std::string& file : files("topologies"))
    if (fs::path(file).stem().string().rfind("h200", 0) == 0) CHECK(load(file).gpu == "h200");
}

TEST_CASE("rings between servers go over the network", "[unit]") {
  const Machine m = load(kRoot + "/topologies/turin-2n-16g.yaml");
  const Communicator c = communicator(m, Routes(m), {0, 8});
  CHECK(c.hops == std::vector<Transport>(2, Transport::net));
}

TEST_CASE("every GPU that ships loads without a diagnostic", "[unit]") {
  for (const std::string& file : files("calibration/gpus")) {
    INFO(file);
    Diagnostics d;
    const GpuSpec g = load_gpu(file, d);
    INFO(d.render());
    CHECK(d.all().empty());
    CHECK(g.usable_bytes <= g.memory_bytes);
  }
  Diagnostics d;
  const GpuSpec g = load_gpu(kRoot + "/calibration/gpus/rtx-pro-6000.yaml", d);
  CHECK(g.sm == 188);
  CHECK(g.dram_Bps == Approx(1.792e12));
  CHECK(g.l2_resident_bytes == Approx(140e6));
  CHECK(peak_flops(g, ComputeType::fp4) == Approx(1871e12));
}
