// Simulated against measured collectives. `expected` comes from the reference implementation of the same equations with the
// parameters of tests/data/profiles/comm-reference.yaml and must be met within 0.5 % with these; `measured` is the mean over
// the public tables that report the point, and must be met within 10 % unless the row says otherwise, with these and with
// the shipped profile.
// Sources of the measurements: ai-dynamo/aiconfigurator@095f58a systems/data/rtx_pro_6000_server/comm
// (host-bounced machine); sjug/rtx6kpro models/glm5.1/vllm-communicators-kimi-glm-2026-05-07.md and
// optimization/nccl-tuning.md (two-socket direct machine); local-inference-lab/b12x
// validation/performance/tp16_* (16 GPUs).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "catch.hpp"
#include "cost/collective.hpp"
#include "cost/load_profile.hpp"
#include "cost/one_shot.hpp"
#include "machine/load.hpp"

using namespace moe;

namespace {

const std::string kRoot = MOE_SIM_SOURCE_DIR;

CommCost comm_of(const std::string& file) {
  Diagnostics d;
  CommCost c = load_profile(kRoot + "/" + file, d).comm;
  INFO(d.render());
  REQUIRE_FALSE(d.has_errors());
  return c;
}

const std::string kShipped = "calibration/profiles/rtx-pro-6000.yaml", kH200 = "calibration/profiles/h200.yaml",
                  kReference = "tests/data/profiles/comm-reference.yaml";

/// The first `ranks` GPUs of a machine in their order.
Communicator ring_of(const std::string& machine_name, int ranks) {
  Diagnostics d;
  const Machine m = load_machine(kRoot + "/topologies/" + machine_name + ".yaml", d);
  INFO(d.render());
  REQUIRE_FALSE(d.has_errors());
  std::vector<int> gpus(static_cast<std::size_t>(ranks));
  std::iota(gpus.begin(), gpus.end(), 0);
  return communicator(m, Routes(m), gpus);
}

struct Row {
  int number;
  CollectiveOp op;
  int ranks;
  double bytes, expected_us, measured_us;
};
constexpr auto kAr = CollectiveOp::all_reduce, kAg = CollectiveOp::all_gather,
               kRs = CollectiveOp::reduce_scatter, kAa = CollectiveOp::all_to_all;
constexpr double kMB = 1 << 20;

void check(const char* what, double predicted, double expected, double measured, double tolerance_pct) {
  const double off = 100 * (predicted / measured - 1);
  std::printf("  %-44s %9.3f us  reference %+6.2f %%  measured %8.2f us %+6.1f %%\n", what, predicted,
              100 * (predicted / expected - 1), measured, off);
  INFO(what);
  CHECK(predicted == Approx(expected).epsilon(0.005));
  CHECK(std::abs(off) <= tolerance_pct);
}

/// An NCCL collective with both profiles. `expected_us` is for the reference; tolerances are for the measurement.
struct Nccl {
  std::string what;
  Communicator ring;
  CollectiveOp op;
  double bytes, expected_us, measured_us, tolerance_pct = 10, shipped_tolerance_pct = 10;
};
void check(const Nccl& n) {
  const CollectiveCost reference = collective(comm_of(kReference), n.ring, n.op, n.bytes, {});
  const CollectiveCost shipped = collective(comm_of(kShipped), n.ring, n.op, n.bytes, {});
  check((n.what + ", " + reference.implementation).c_str(), reference.time_us, n.expected_us, n.measured_us, n.tolerance_pct);
  const double off = 100 * (shipped.time_us / n.measured_us - 1);
  std::printf("  %-44s %9.3f us                      measured %8.2f us %+6.1f %%\n", "   shipped profile", shipped.time_us,
              n.measured_us, off);
  CHECK(shipped.implementation == reference.implementation);
  CHECK(std::abs(off) <= n.shipped_tolerance_pct);
}

}  // namespace

TEST_CASE("host-bounced rings, pairs and all-to-all agree with the reference and with the public table",
          "[validation]") {
  const Row rows[] = {
      {1, kAr, 8, 4096, 25.61492022820415, 25.8},      {2, kAr, 8, 16384, 28.29385909972321, 27.4},
      {3, kAr, 8, 65536, 31.86577759508196, 31.5},     {4, kAr, 8, 131072, 49.03246934971491, 49.2},
      {5, kAr, 8, 262144, 83.36585285898082, 84.4},    {6, kAr, 8, 524288, 152.03261987751262, 156.6},
      {7, kAr, 8, kMB, 134.1584174255027, 133.5},      {8, kAr, 8, 4 * kMB, 344.60979274992746, 346.1},
      {9, kAr, 4, 16384, 16.33026821075926, 14.8},     {10, kAr, 4, 131072, 24.664906832703203, 25.0},
      {11, kAr, 4, kMB, 87.4544422808441, 87.4},       {12, kAr, 2, 65536, 8.829358900417034, 9.2},
      {13, kAr, 2, 4 * kMB, 130.2502869293306, 129.7}, {14, kAg, 8, 262144, 46.944922982222465, 45.5},
      {15, kAg, 8, kMB, 74.22316354232618, 76.1},      {16, kRs, 8, 262144, 46.944922982222465, 46.7},
      {17, kRs, 4, kMB, 51.56606687063296, 51.3},      {18, kAa, 8, 131072, 44.133089840637965, 45.4},
      {19, kAa, 8, 262144, 28.124433982916567, 28.9},  {20, kAa, 8, 4 * kMB, 269.3735664756145, 259.9},
      {21, kAa, 4, 262144, 20.033781914700302, 21.0}};
  for (const Row& r : rows) {
    // Row 9: the reference itself is 10.3 % above the mean of the sources (14.6 to 15.4 us).
    const std::string what = fmt::format("{:2} {} n={} {:.0f} B", r.number, name_of(r.op), r.ranks, r.bytes);
    check({what, ring_of("pcie-2s-host-bounced", r.ranks), r.op, r.bytes, r.expected_us, r.measured_us, r.number == 9 ? 10.5 : 10});
  }
}

TEST_CASE("a direct ring over two sockets shows the LL sawtooth", "[validation]") {
  const Communicator ring = ring_of("turin-2s-direct", 8);
  check({"22a all-reduce n=8 65536 B", ring, kAr, 65536, 23.22758999821658, 21.8});
  // 12.4 % high: the tau of a ring across sockets was set on powers of two.
  check({"22b all-reduce n=8 57344 B", ring, kAr, 57344, 27.54256128776114, 24.5, 13, 13});
  const CommCost cost = comm_of(kShipped);
  CHECK(collective(cost, ring, kAr, 57344, {}).time_us > collective(cost, ring, kAr, 65536, {}).time_us);
}

TEST_CASE("sixteen GPUs behind four switches need the shrink rule", "[validation]") {
  // Without it one Kimi token over 16 ranks would take about 27 us.
  check({"23 all-reduce n=16 14336 B", ring_of("turin-16g-cpayne", 16), kAr, 14336, 33.189868143142306, 36.1});
}

TEST_CASE("two H200 show the LL sawtooth between the powers of two that were fitted", "[validation]") {
  // NCCL 2.28.9, two H200 of one board, 20 all-reduces per CUDA graph, median of 10 replays. None of these was fitted.
  struct Between {
    double bytes, host_bounced_us, nvlink_us;
  };
  const Between rows[] = {{5120, 12.67, 6.96},  {7168, 12.88, 7.04},  {10240, 13.03, 7.61}, {14336, 13.77, 7.81},
                          {20480, 13.74, 7.75}, {24576, 12.06, 7.17}, {28672, 14.12, 7.71}, {57344, 15.95, 7.32}};
  const CommCost cost = comm_of(kH200);
  const Communicator bounced = ring_of("h200x2-host-bounced", 2), nvlink = ring_of("h200x2-nvlink", 2);
  std::vector<double> errors;
  for (const Between& r : rows)
    for (const auto& [ring, measured] : {std::pair{&bounced, r.host_bounced_us}, std::pair{&nvlink, r.nvlink_us}}) {
      const double us = collective(cost, *ring, kAr, r.bytes, {}).time_us;
      errors.push_back(100 * std::abs(us / measured - 1));
      std::printf("  %-44s %9.3f us                      measured %8.2f us %+6.1f %%\n",
                  fmt::format("all-reduce n=2 {:.0f} B, {}", r.bytes, name_of(ring->hops[0])).c_str(), us, measured,
                  100 * (us / measured - 1));
    }
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] <= 5);
  CHECK(errors[errors.size() * 9 / 10] <= 10);
  const auto bounced_us = [&](double bytes) { return collective(cost, bounced, kAr, bytes, {}).time_us; };
  CHECK(bounced_us(14336) > bounced_us(16384) + 1.5);  // measured: 2.2 us more for less data
}

TEST_CASE("two H200 switch protocol where NCCL does", "[validation]") {
  const CommCost cost = comm_of(kH200);
  const auto runs = [&](const char* machine, CollectiveOp op, double bytes) {
    return collective(cost, ring_of(machine, 2), op, bytes, {}).implementation;
  };
  // Seen as jumps of the measured curves.
  CHECK(runs("h200x2-nvlink", kAr, 1572864) == "ring LL");
  CHECK(runs("h200x2-nvlink", kAr, 1835008) == "ring Simple");
  CHECK(runs("h200x2-nvlink", kAg, 2097152) == "ring LL");
  CHECK(runs("h200x2-nvlink", kAg, 2621440) == "ring Simple");
  CHECK(runs("h200x2-host-bounced", kAr, 393216) == "ring LL");
  CHECK(runs("h200x2-host-bounced", kAr, 458752) == "ring Simple");
  CHECK(runs("h200x2-host-bounced", kRs, 458752) == "ring LL");
  CHECK(runs("h200x2-host-bounced", kRs, 524288) == "ring Simple");
}

TEST_CASE("a direct ring whose bandwidth NCCL misjudges runs Simple from 32 KB", "[validation]") {
  Communicator ring = ring_of("turin-2s-direct", 8);
  ring.graph_GBps = 0.2;  // NCCL without graph XML takes the socket link for a slow one
  CHECK(collective(comm_of(kShipped), ring, kAr, 32768, {}).implementation == "ring Simple");
  check({"24a all-reduce n=8 32 KB, no XML", ring, kAr, 32768, 44.43949067609966, 48.2});
  check({"24b all-reduce n=8 256 KB, no XML", ring, kAr, 262144, 53.82871423595473, 56.5});
}

TEST_CASE("one-shot kernels follow their line", "[validation]") {
  CollectivePolicy p;
  p.one_shot_t0_us = 7.4, p.one_shot_GBps = 23.0;
  check("25a one-shot n=8 14336 B", one_shot_us(p, 8, 14336), 11.763130434782, 11.8, 10);
  check("25b one-shot n=8 458752 B", one_shot_us(p, 8, 458752), 147.0201739130, 147.3, 10);
  p.one_shot_t0_us = 4.47, p.one_shot_GBps = 40.6;
  check("26 one-shot n=2 256 KB", one_shot_us(p, 2, 262144), 10.926748768473, 11.1, 10);
}

TEST_CASE("one Kimi token host-bounced costs what the reference says; nobody has measured it",
          "[validation]") {
  const CollectiveCost c =
      collective(comm_of(kReference), ring_of("pcie-2s-host-bounced", 8), kAr, 14336, {});
  CHECK(c.time_us == Approx(35.36451036073996).epsilon(0.005));
  CHECK(c.implementation == "ring LL");
}
