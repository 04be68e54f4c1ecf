// NCCL's level rules on small machines, and the links' shares of a ring.
#include "cost/collective.hpp"

#include "catch.hpp"

using namespace moe;

namespace {

/// Two sockets with one switch of two GPUs each: gpu0, gpu1 | gpu2, gpu3. Ports 50, uplinks 40, socket link 30 GB/s.
Machine two_sockets() {
  Machine m;
  m.devices = {{"gpu0", DeviceKind::gpu, 0, 0},          {"gpu1", DeviceKind::gpu, 0, 0},
               {"gpu2", DeviceKind::gpu, 1, 0},          {"gpu3", DeviceKind::gpu, 1, 0},
               {"sw0", DeviceKind::pcie_switch, 0, 0},   {"sw1", DeviceKind::pcie_switch, 1, 0},
               {"rc0", DeviceKind::root_complex, 0, 0},  {"rc1", DeviceKind::root_complex, 1, 0}};
  m.gpus = {0, 1, 2, 3};
  m.nccl = {{2, 4, 48}, {4, 2, 20}};
  const auto join = [&](int a, int b, LinkKind kind, double gbps, double us) {
    m.links.push_back({a, b, kind, from_GBps(gbps), Seconds{us * 1e-6}, ""});
    m.links.push_back({b, a, kind, from_GBps(gbps), Seconds{us * 1e-6}, ""});
  };
  join(0, 4, LinkKind::port, 50, 0.1), join(1, 4, LinkKind::port, 50, 0.1);
  join(2, 5, LinkKind::port, 50, 0.1), join(3, 5, LinkKind::port, 50, 0.1);
  join(4, 6, LinkKind::uplink, 40, 0.2), join(5, 7, LinkKind::uplink, 40, 0.2);
  join(6, 7, LinkKind::socket_link, 30, 0.3);
  return m;
}

std::vector<Transport> hops(const Machine& m, const std::vector<int>& gpus) {
  return communicator(m, Routes(m), gpus).hops;
}

constexpr auto kP2p = Transport::p2p, kP2pX = Transport::p2p_x, kPair = Transport::p2p_pair, kShm = Transport::shm,
               kShmX = Transport::shm_x;

}  // namespace

TEST_CASE("hops are direct up to the machine's level and bounce beyond it", "[analytic]") {
  Machine m = two_sockets();
  m.p2p_level = P2pLevel::cross_switch;
  CHECK(hops(m, {0, 1, 2, 3}) == std::vector{kP2p, kShmX, kP2p, kShmX});
  m.p2p_level = P2pLevel::system;
  CHECK(hops(m, {0, 1, 2, 3}) == std::vector{kP2p, kP2pX, kP2p, kP2pX});
  m.p2p_level = P2pLevel::off;
  CHECK(hops(m, {0, 1, 2, 3}) == std::vector{kShm, kShmX, kShm, kShmX});
}

TEST_CASE("a pair may talk directly on any path where the machine says so, unless P2P is off", "[analytic]") {
  Machine m = two_sockets();
  m.p2p_level = P2pLevel::cross_switch;
  CHECK(hops(m, {0, 1}) == std::vector{kPair, kPair});
  CHECK(hops(m, {0, 2}) == std::vector{kShmX, kShmX});
  m.pair_p2p_anywhere = true;
  CHECK(hops(m, {0, 2}) == std::vector{kP2pX, kP2pX});
  CHECK(hops(m, {0, 2, 3}) == std::vector{kShmX, kP2p, kShmX});
  m.p2p_level = P2pLevel::off;
  CHECK(hops(m, {0, 1}) == std::vector{kShm, kShm});
}

TEST_CASE("what NCCL believes goes by size, and the largest entry serves everything above", "[analytic]") {
  const Machine m = two_sockets();
  CHECK(communicator(m, Routes(m), {0, 1}).channels == 4);
  CHECK(communicator(m, Routes(m), {0, 1, 2}).channels == 2);
  CHECK(communicator(m, Routes(m), {0, 1, 2, 3}).graph_GBps == 20);
}

TEST_CASE("hop latency is the sum over the links of the route", "[analytic]") {
  const Machine m = two_sockets();
  const Communicator c = communicator(m, Routes(m), {0, 1, 2, 3});
  CHECK(c.hop_latency_us[0] == Approx(0.2));
  CHECK(c.hop_latency_us[1] == Approx(0.1 + 0.2 + 0.3 + 0.2 + 0.1));
}

TEST_CASE("a ring in order crosses the socket link once per direction, an alternating one twice", "[analytic]") {
  Machine m = two_sockets();
  m.p2p_level = P2pLevel::system;
  CHECK(communicator(m, Routes(m), {0, 1, 2, 3}).share_GBps == Approx(30));
  CHECK(communicator(m, Routes(m), {0, 2, 1, 3}).share_GBps == Approx(15));
  // Both directions of a port are busy: the duplex share of 50 GB/s.
  CHECK(communicator(m, Routes(m), {0, 1}).share_GBps == Approx(50 * m.pcie.duplex));
}

TEST_CASE("a limit on both directions together halves the share of a ring", "[analytic]") {
  Machine m = two_sockets();
  m.p2p_level = P2pLevel::system;
  const int forward = static_cast<int>(m.links.size()) - 2;
  m.limits = {{"socket", {forward, forward + 1}, from_GBps(40)}};
  CHECK(communicator(m, Routes(m), {0, 1, 2, 3}).share_GBps == Approx(20));
}

TEST_CASE("bouncing hops share the way to host memory and back", "[analytic]") {
  Machine m = two_sockets();
  m.p2p_level = P2pLevel::off;
  m.devices.push_back({"mem0", DeviceKind::host_memory, 0, 0});
  m.devices.push_back({"mem1", DeviceKind::host_memory, 1, 0});
  for (const auto& [root, memory] : {std::pair{6, 8}, {7, 9}}) {
    m.links.push_back({root, memory, LinkKind::fabric, from_GBps(1000), Seconds{0}, ""});
    m.links.push_back({memory, root, LinkKind::fabric, from_GBps(1000), Seconds{0}, ""});
  }
  // Both GPUs of a switch write over its uplink, and two messages come back: half of 40 GB/s, both directions busy.
  CHECK(communicator(m, Routes(m), {0, 1, 2, 3}).share_GBps == Approx(20 * m.pcie.duplex));
}

TEST_CASE("GPUs of two servers talk over the network", "[analytic]") {
  Machine m = two_sockets();
  m.devices[2].node = m.devices[3].node = 1;
  m.p2p_level = P2pLevel::system;
  CHECK(hops(m, {0, 1, 2, 3}) == std::vector{kP2p, Transport::net, kP2p, Transport::net});
}
