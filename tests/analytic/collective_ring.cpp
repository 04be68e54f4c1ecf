// Rings by hand. Round parameters: base 4 us; one shm hop alpha 1, tau 0.8, tau1 0.4 us; tail 1.5; Simple: fill 7,
// alpha 3 us, 32 GB/s, tail 0.5; wire 50 GB/s.
#include "cost/ring.hpp"

#include "base/check.hpp"
#include "catch.hpp"

using namespace moe;

namespace {

CommCost round_cost() {
  CommCost c;
  c.t_base_us = 4, c.tail_ll = 1.5, c.tail_simple = 0.5, c.wire_GBps = 50, c.b_simple_us = 7;
  c.ll128_alpha_factor = 2, c.ll128_rate_GBps = 32;
  c.transport["shm"] = {0, 1, false, 0.8, 0.4, 3, 32};
  c.transport["shm_x"] = {0, 2, false, 0.8, 0.4, 5, 16};
  c.transport["p2p"] = {0, 0.5, true, 0.8, 0.4, 2, 40};
  return c;
}

Communicator ring(int n, Transport t, int channels, double believed = 20) {
  const auto size = static_cast<std::size_t>(n);
  Communicator c;
  c.gpus.resize(size);
  c.hops.assign(size, t);
  c.hop_latency_us.assign(size, 0.2);
  c.channels = channels;
  c.graph_GBps = believed;
  return c;
}

constexpr auto kAr = CollectiveOp::all_reduce;

}  // namespace

TEST_CASE("a ring takes 2(n-1) steps for all-reduce and n-1 for its halves", "[analytic]") {
  CHECK(ring_steps(kAr, 8) == 14);
  CHECK(ring_steps(CollectiveOp::all_gather, 8) == 7);
  CHECK(ring_steps(CollectiveOp::reduce_scatter, 4) == 3);
  CHECK_THROWS_AS(ring_steps(CollectiveOp::all_to_all, 8), InternalError);
}

TEST_CASE("LL drops channels first, then halves threads, until each thread has 8n bytes", "[analytic]") {
  // n = 8: 64 B per thread. Two channels of 512 threads want 65536 B, one 32768, then 16384, 8192, 4096.
  const auto shape = [](double bytes) {
    const LlGeometry g = ll_geometry(bytes, 8, 2, 64);
    return std::pair{g.channels, g.threads};
  };
  CHECK(shape(65536) == std::pair{2, 512});
  CHECK(shape(65535) == std::pair{1, 512});
  CHECK(shape(32768) == std::pair{1, 512});
  CHECK(shape(16384) == std::pair{1, 256});
  CHECK(shape(14336) == std::pair{1, 128});
  CHECK(shape(8192) == std::pair{1, 128});
  CHECK(shape(4096) == std::pair{1, 64});
  // 64 is no multiple of 128, so it stays however small the message is.
  CHECK(shape(256) == std::pair{1, 64});
}

TEST_CASE("a block has at least the threads that the profile says", "[analytic]") {
  const LlGeometry g = ll_geometry(1536, 2, 4, 96);
  CHECK(g.threads == 96);
  CHECK(g.step_bytes == 768);
  CHECK(g.pass_bytes == 768);
  CHECK(g.passes == 1);
  CHECK(ll_geometry(1792, 2, 4, 96).passes == Approx(896.0 / 768));
}

TEST_CASE("14336 B over 8 ranks need 1.75 passes where 16384 B need one", "[analytic]") {
  CHECK(ll_geometry(14336, 8, 2, 64).passes == Approx(1.75));
  CHECK(ll_geometry(16384, 8, 2, 64).passes == Approx(1.0));
}

TEST_CASE("LL with one pass is base, steps of alpha and issue, and the tail", "[analytic]") {
  // 4096 B, n = 8: 512 B per step; first = 0.4 x 512/4096 = 0.05. T = 4 + 14 x 1.05 + 1.5 x 0.05.
  CHECK(ring_ll_us(round_cost(), ring(8, Transport::shm, 2), kAr, 4096) == Approx(4 + 14 * 1.05 + 0.075));
}

TEST_CASE("LL with four full passes adds three round trips to every step", "[analytic]") {
  // 262144 B, n = 8, 2 channels: 16384 B per step and channel = 4 passes of 4096 B.
  // first = 0.4, extra = 3 x ((0.8 - 0.4) + 0.4) = 2.4, step = 1 + 2.8, wire = 2 x 32768 / 50e3 = 1.31 < step.
  CHECK(ring_ll_us(round_cost(), ring(8, Transport::shm, 2), kAr, 262144) == Approx(4 + 14 * 3.8 + 1.5 * 2.8));
}

TEST_CASE("a started pass costs its share, or a whole round trip where the profile says so", "[analytic]") {
  // 14336 B: 1.75 passes of 128 threads; tau - tau1 = 0.4, issue 0.75 x 0.4 x 128/512 = 0.075, first = 0.1.
  CommCost cost = round_cost();
  const Communicator c = ring(8, Transport::shm, 2);
  const double share = 0.1 + 0.75 * 0.4 + 0.075, whole = 0.1 + 0.4 + 0.075;
  CHECK(ring_ll_us(cost, c, kAr, 14336) == Approx(4 + 14 * (1 + share) + 1.5 * share));
  cost.ll_whole_pass = true;
  CHECK(ring_ll_us(cost, c, kAr, 14336) == Approx(4 + 14 * (1 + whole) + 1.5 * whole));
}

TEST_CASE("LL is bound by the wire when channels are plenty: 2 S/n at the wire's rate per step", "[analytic]") {
  // 8 channels, 4 MB: 65536 B per step and channel = 16 passes: 1 + 0.4 + 15 x 0.8 = 13.4 us.
  // Wire: 2 x 524288 / 50e3 = 20.97 us; over a link share of 25 GB/s twice that.
  const double tail = 1.5 * 12.4, wire = 2 * 524288 / 50e3;
  Communicator c = ring(8, Transport::shm, 8);
  CHECK(ring_ll_us(round_cost(), c, kAr, 4 << 20) == Approx(4 + 14 * wire + tail));
  c.share_GBps = 25;
  CHECK(ring_ll_us(round_cost(), c, kAr, 4 << 20) == Approx(4 + 14 * 2 * wire + tail));
}

TEST_CASE("direct hops add the latency of their route, bouncing ones do not", "[analytic]") {
  CHECK(ring_ll_us(round_cost(), ring(2, Transport::p2p, 1), kAr, 1024) ==
        Approx(4 + 2 * (0.5 + 0.2 + 0.4 * 512 / 4096) + 1.5 * 0.05));
}

TEST_CASE("Simple is fill, steps of alpha and copy, and half a copy at the end", "[analytic]") {
  // 1 MiB, n = 4: 262144 B at 32 GB/s = 8.192 us.
  const double copy = 262144 / 32e3;
  CHECK(ring_simple_us(round_cost(), ring(4, Transport::shm, 4), kAr, 1 << 20) ==
        Approx(4 + 7 + 6 * (3 + copy) + 0.5 * copy));
}

TEST_CASE("latency is the mean of the hops, rate and passes are those of the worst", "[analytic]") {
  Communicator c = ring(4, Transport::shm, 4);
  c.hops[3] = Transport::shm_x;
  const double copy = 262144 / 16e3;
  CHECK(ring_simple_us(round_cost(), c, kAr, 1 << 20) == Approx(4 + 7 + 6 * (3.5 + copy) + 0.5 * copy));
  CHECK(worst_hop(c) == Transport::shm_x);
}

TEST_CASE("LL128 carries 120 B in 128 B and doubles the hop latency here", "[analytic]") {
  const double copy = 131072 * (128.0 / 120) / 32e3;
  CHECK(ring_ll128_us(round_cost(), ring(8, Transport::shm, 2), kAr, 1 << 20) ==
        Approx(4 + 14 * (2 + copy) + 0.5 * copy));
}

TEST_CASE("NCCL expects LL below and Simple above the size where its two lines cross", "[analytic]") {
  // n = 8, all-reduce, B = 20 GB/s: 6.6 + 14 + 2 x 1.75 S/20e3 = 8.4 + 79.8 + 1.75 S/20e3, so S = 67.6 x 20e3/1.75.
  const Communicator c = ring(8, Transport::shm, 2);
  const double cross = (8.4 + 14 * 5.7 - 6.6 - 14 * 1.0) * 20e3 / 1.75;
  CHECK(cross == Approx(772571).epsilon(1e-5));
  const std::vector<Protocol> both{Protocol::ll, Protocol::simple};
  CHECK(nccl_choice(both, kAr, cross * 0.999, c) == Protocol::ll);
  CHECK(nccl_choice(both, kAr, cross * 1.001, c) == Protocol::simple);
  CHECK(nccl_expects_us(Protocol::ll, kAr, 4096, c) == Approx(20.6 + 4096 * 14 / (8 * 0.5 * 20e3)));
}

TEST_CASE("NCCL's NVLink step constants put the pair's switch between 1.5 and 1.75 MiB at 238 GB/s", "[analytic]") {
  // 6.6 + 2 x 0.6 + 2 S/B = 8.4 + 2 x 3.4 + S/B, so S = 7.4 B.
  const Communicator c = ring(2, Transport::nvlink_pair, 24, 238);
  const std::vector<Protocol> all{Protocol::ll, Protocol::simple, Protocol::ll128};
  CHECK(nccl_choice(all, kAr, 1572864, c) == Protocol::ll);
  CHECK(nccl_choice(all, kAr, 1835008, c) == Protocol::simple);
}

TEST_CASE("a profile without parameters for a transport has no answer", "[analytic]") {
  CHECK_THROWS_AS(ring_ll_us(round_cost(), ring(2, Transport::net, 2), kAr, 1024), Infeasible);
}
