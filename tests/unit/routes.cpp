// Routes: least latency, fewest links, never through a GPU, the same every time.
#include <thread>

#include "base/check.hpp"
#include "catch.hpp"
#include "machine/machine.hpp"

using namespace moe;

namespace {

/// gpu0, gpu1, gpu2 and two switches; links are added by the tests.
Machine box() {
  Machine m;
  m.devices = {{"gpu0", DeviceKind::gpu, 0, 0},
               {"gpu1", DeviceKind::gpu, 0, 0},
               {"gpu2", DeviceKind::gpu, 1, 0},
               {"sw0", DeviceKind::pcie_switch, 0, 0},
               {"sw1", DeviceKind::pcie_switch, 0, 0}};
  m.gpus = {0, 1, 2};
  return m;
}

void join(Machine& m, int a, int b, double us, LinkKind kind = LinkKind::port) {
  m.links.push_back({a, b, kind, from_GBps(50), Seconds{us * 1e-6}, ""});
  m.links.push_back({b, a, kind, from_GBps(50), Seconds{us * 1e-6}, ""});
}

std::string infeasible(const Machine& m, int from, int to) {
  try {
    (void)Routes(m).between_gpus(from, to);
  } catch (const Infeasible& e) {
    CHECK(e.rule == "route");
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a route takes the least latency even over more links", "[unit]") {
  Machine m = box();
  join(m, 0, 1, 1.0);
  join(m, 0, 3, 0.1), join(m, 3, 4, 0.1), join(m, 4, 1, 0.1);
  const Routes routes(m);
  const Route& r = routes.between_gpus(0, 1);
  CHECK(r.links == std::vector<int>{2, 4, 6});
  CHECK(r.latency.count() == Approx(0.3e-6));
}

TEST_CASE("equal latency is decided by the number of links", "[unit]") {
  Machine m = box();
  join(m, 0, 3, 0.1), join(m, 3, 4, 0.0), join(m, 4, 1, 0.1), join(m, 3, 1, 0.1);
  CHECK(Routes(m).between_gpus(0, 1).links == std::vector<int>{0, 6});
}

TEST_CASE("a route never passes through a GPU, even when that is the only way", "[unit]") {
  Machine m = box();
  join(m, 0, 1, 0.1, LinkKind::nvlink), join(m, 1, 2, 0.1, LinkKind::nvlink);
  CHECK(Routes(m).between_gpus(0, 1).links.size() == 1);
  CHECK(infeasible(m, 0, 2) == "there is no route from `gpu0` to `gpu2` that does not pass through another GPU");
  join(m, 0, 3, 5), join(m, 3, 2, 5);
  CHECK(Routes(m).between_gpus(0, 2).links.size() == 2);
}

TEST_CASE("a GPU is at no distance from itself", "[unit]") {
  Machine m = box();
  join(m, 0, 3, 0.1), join(m, 1, 3, 0.1), join(m, 2, 3, 0.1);
  CHECK(Routes(m).between_gpus(1, 1).links.empty());
}

TEST_CASE("asking for a route that is never computed is our bug", "[unit]") {
  Machine m = box();
  join(m, 0, 3, 0.1);
  CHECK_THROWS_AS(Routes(m).between(3, 0), InternalError);
  CHECK_THROWS_AS(Routes(m).between_gpus(0, 7), InternalError);
}

TEST_CASE("the path's level is the worst thing that it passes through", "[unit]") {
  Machine m = box();
  m.devices.push_back({"rc0", DeviceKind::root_complex, 0, 0});
  m.devices.push_back({"rc1", DeviceKind::root_complex, 1, 0});
  join(m, 0, 3, 0.1), join(m, 1, 4, 0.1), join(m, 3, 4, 0.1, LinkKind::chip);
  CHECK(path_level(m, Routes(m).between_gpus(0, 1)) == P2pLevel::cross_switch);
  join(m, 3, 5, 0.01, LinkKind::uplink), join(m, 5, 4, 0.01, LinkKind::uplink);
  CHECK(path_level(m, Routes(m).between_gpus(0, 1)) == P2pLevel::host_bridge);
  join(m, 5, 6, 0.2, LinkKind::socket_link), join(m, 6, 2, 0.1);
  CHECK(path_level(m, Routes(m).between_gpus(0, 2)) == P2pLevel::system);
  join(m, 0, 1, 0.0, LinkKind::nvlink);
  CHECK(path_level(m, Routes(m).between_gpus(0, 1)) == P2pLevel::nvlink);
}

TEST_CASE("several threads may read the routes of one machine", "[unit]") {
  Machine m = box();
  join(m, 0, 3, 0.1), join(m, 1, 3, 0.1), join(m, 2, 3, 0.1);
  const Routes routes(m);
  std::vector<std::thread> threads;
  std::vector<std::size_t> found(8, 0);
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 1000; ++k) found[i] += routes.between_gpus(0, 2).links.size();
    });
  for (auto& t : threads) t.join();
  for (const std::size_t f : found) CHECK(f == 2000);
}
