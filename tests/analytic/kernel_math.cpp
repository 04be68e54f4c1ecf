// smax, wave, hit and spread: the corners where the answer is known without a calculator.
#include "cost/kernel_math.hpp"

#include "catch.hpp"

using namespace moe;

TEST_CASE("a smooth maximum lies between the maximum and the sum", "[analytic]") {
  CHECK(smax(3, 4, 2) == Approx(5));     // 3-4-5 triangle
  CHECK(smax(3, 4, 1) == Approx(7));     // p = 1: nothing overlaps
  CHECK(smax(3, 4, 300) == Approx(4));   // large p: the slower limit alone
  CHECK(smax(0, 4, 2) == 4);
  CHECK(smax(0, 0, 2) == 0);
}

TEST_CASE("a smooth maximum of tiny and huge times does not overflow", "[analytic]") {
  CHECK(smax(1e200, 1e-200, 13) == 1e200);
}

TEST_CASE("waves are whole with w = 1, shared with w = 0, and never less than one", "[analytic]") {
  CHECK(wave(1.2, 1) == 2);
  CHECK(wave(1.2, 0) == Approx(1.2));
  CHECK(wave(1.2, 0.5) == Approx(1.6));
  CHECK(wave(0.1, 0) == 1);
  CHECK(wave(0.1, 1) == 1);
}

TEST_CASE("L2 serves everything at no footprint, half at its size, nothing when data is used once", "[analytic]") {
  GpuSpec gpu;
  gpu.l2_resident_bytes = 140e6;
  CHECK(hit(gpu, kInL2) == 1);
  CHECK(hit(gpu, 140e6) == Approx(0.5));
  CHECK(hit(gpu, kCold) == 0);
  CHECK(hit(gpu, 100e6) > 0.999);  // (100/140)^40 = 1.4e-6
  CHECK(hit(gpu, 200e6) < 0.001);  // (200/140)^40 = 1.6e6
}

TEST_CASE("the spread is a 90th percentile over 1.645, cold rows first", "[analytic]") {
  FitQuality quality;
  quality.p90_pct = 16.45;
  CHECK(spread_of(quality) == Approx(0.1));
  quality.cold_p90_pct = 8.225;
  CHECK(spread_of(quality) == Approx(0.05));
}

TEST_CASE("both ends of a fitted range are inside it, and a size without a range is too", "[analytic]") {
  FitQuality quality;
  quality.range["m"] = {1, 512};
  CHECK(within(quality, "m", 1));
  CHECK(within(quality, "m", 512));
  CHECK_FALSE(within(quality, "m", 513));
  CHECK(within(quality, "n", 1e9));
}
