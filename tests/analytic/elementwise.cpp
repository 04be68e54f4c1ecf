// t = t0 + smax(c x, bytes / rate; p).
#include "catch.hpp"
#include "cost/compute.hpp"

using namespace moe;

TEST_CASE("elementwise kernels: fixed time, then work and bytes", "[analytic]") {
  GpuSpec gpu;
  gpu.dram_Bps = 1e12;
  gpu.l2_resident_bytes = 1e6;
  ElementwisePath path;
  path.t0_us = 1.75;
  path.c_us = 3;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.p = 2;

  CHECK(elementwise(gpu, path, 0, 0).time_us == Approx(1.75));
  CHECK(elementwise(gpu, path, 1, 2e6).time_us == Approx(1.75 + 5));         // 3 us of work, 4 us of DRAM
  CHECK(elementwise(gpu, path, 0, 2e6, kInL2).time_us == Approx(1.75 + 1));  // 2 MB at 2 TB/s
  CHECK(elementwise(gpu, path, 0, 2e6).dram_bytes == 2e6);
  CHECK(elementwise(gpu, path, 0, 2e6, kInL2).dram_bytes == 0);
}
