// Two collectives at once on 16 GPUs behind eight root ports: an all-reduce of 8 GPUs by copy engines (100.7 MB) and an
// all-gather in two groups of 4, on adjacent GPUs (two per root port) and on every second one (one per root port).
// Source: local-inference-lab/b12x docs/evidence/pcie_calibration/20260726-*.json: together 4.60 ms adjacent and 39.84 ms
// interleaved (all-gather of 64.5 MB sent by each rank; the source's own wire rates are these bytes over the time).
#include <cstdio>

#include "catch.hpp"
#include "shipped_machines.hpp"
#include "network/closed_form.hpp"
#include "network/together.hpp"

using namespace moe;

namespace {

/// NCCL's ring; each rank sends 3/4 of what all together gather.
CollectiveRequest gathered(std::vector<int> gpus, double sent_bytes) {
  CollectiveRequest r;
  r.op = CollectiveOp::all_gather;
  r.gpus = std::move(gpus);
  r.bytes = sent_bytes * 4 / 3;
  return r;
}

double last_ms(const test::Box& b, const std::vector<CollectiveRequest>& all) {
  double last = 0;
  for (const TogetherResult& r : run_together(b.machine, b.routes, b.cost, all)) last = std::max(last, r.together_us);
  return last * 1e-3;
}

CollectiveRequest copy_ring(std::vector<int> gpus) {
  CollectiveRequest r;
  r.gpus = std::move(gpus), r.bytes = 100.66e6, r.algorithm = Algorithm::copy_ring;
  return r;
}

/// Two rings of 8: every `stride`-th GPU, and the others.
double two_rings_ms(const test::Box& b, int stride) {
  std::vector<int> one, other;
  for (int i = 0; i < 8; ++i) one.push_back(stride * i), other.push_back(stride == 1 ? 8 + i : 2 * i + 1);
  return last_ms(b, {copy_ring(one), copy_ring(other)});
}

double together_ms(const test::Box& b, int stride) {
  const auto gpu = [&](int i) { return i * stride; };
  std::vector<int> all;
  for (int i = 0; i < 8; ++i) all.push_back(gpu(i));
  return last_ms(b, {copy_ring(all), gathered({gpu(0), gpu(1), gpu(2), gpu(3)}, 64.5e6),
                     gathered({gpu(4), gpu(5), gpu(6), gpu(7)}, 64.5e6)});
}

}  // namespace

TEST_CASE("an all-reduce beside an all-gather: the measured collapse on interleaved GPUs has no rule", "[validation]") {
  const test::Box b = test::box("16ws-8rp");
  const double adjacent = together_ms(b, 1), interleaved = together_ms(b, 2);
  std::printf("  all-reduce beside all-gather: adjacent %.2f ms (measured 4.60), interleaved %.2f ms (measured 39.84): factor "
              "%.2f (measured 8.66, not modelled)\n", adjacent, interleaved, interleaved / adjacent);
  // Each uplink carries one GPU's traffic in the second case, so plain sharing has no reason for a difference.
  CHECK(interleaved >= 0.999 * adjacent);
}

TEST_CASE("the all-gather alone is a ring: one time in both orders", "[validation]") {
  // Same source. Three pushes at once would take 1.74 ms adjacent and 2.13 ms interleaved at 64.5 MB (docs/network.md). The
  // third size, 4.03 MB, takes 0.155 and 0.169 ms, of which the host's launch is a good part.
  struct Row {
    double bytes, adjacent_us, interleaved_us;
  };
  const test::Box b = test::box("16ws-8rp");
  for (const Row& r : {Row{32.2e6, 766, 790}, Row{64.5e6, 1486, 1505}})
    for (const int stride : {1, 2}) {
      const double us = closed_form(b.machine, b.routes, b.cost, gathered({0, stride, 2 * stride, 3 * stride}, r.bytes)).time_us;
      const double measured = stride == 1 ? r.adjacent_us : r.interleaved_us;
      std::printf("  all-gather of 4 GPUs %4.1f MB %s %7.1f us, measured %7.1f us %+5.1f %%\n", r.bytes * 1e-6,
                  stride == 1 ? "adjacent   " : "interleaved", us, measured, 100 * (us / measured - 1));
      CHECK(us == Approx(measured).epsilon(0.03));
    }
}

TEST_CASE("two all-reduces at once: interleaved groups are slower than adjacent ones", "[validation]") {
  const test::Box b = test::box("16ws-8rp");
  const double adjacent = two_rings_ms(b, 1), interleaved = two_rings_ms(b, 2);
  std::printf("  two all-reduces of 8 GPUs, 100.7 MB: GPUs 0-7 and 8-15 %.2f ms, even and odd GPUs %.2f ms: factor %.2f\n",
              adjacent, interleaved, interleaved / adjacent);
  CHECK(interleaved > 1.2 * adjacent);
}

TEST_CASE("a ring of copy-engine transfers alone, in both orders", "[validation]") {
  // Same source, stream-launched medians; the two constants were fitted on four sizes of the adjacent order.
  struct Row {
    double bytes, adjacent_us, interleaved_us;
  };
  const Row rows[] = {{12288, 342.8, 348.7},   {98304, 350.8, 345.9},    {393216, 342.4, 337.3},     {1572864, 342.7, 337.2},
                      {6291456, 404.0, 406.0}, {25165824, 883.7, 876.8}, {100663296, 3282.6, 3295.7}};
  const test::Box b = test::box("16ws-8rp");
  for (const int stride : {1, 2})
    for (const Row& r : rows) {
      std::vector<int> gpus;
      for (int i = 0; i < 8; ++i) gpus.push_back(stride * i);
      const double us = by_algorithm(b.machine, b.routes, b.cost, gpus, Algorithm::copy_ring, CollectiveOp::all_reduce,
                                     r.bytes, {}).time_us;
      const double measured = stride == 1 ? r.adjacent_us : r.interleaved_us;
      std::printf("  copy ring %9.0f B %s %8.1f us, measured %8.1f us %+5.1f %%\n", r.bytes,
                  stride == 1 ? "adjacent   " : "interleaved", us, measured, 100 * (us / measured - 1));
      CHECK(us == Approx(measured).epsilon(0.03));
    }
}
