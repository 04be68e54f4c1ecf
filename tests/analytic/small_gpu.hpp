// A GPU whose costs can be done by hand: 10 SMs, 1 TB/s of DRAM, 1 MB of L2.
#pragma once
#include "cost/gpu.hpp"

namespace moe::test {

inline GpuSpec small_gpu() {
  GpuSpec gpu;
  gpu.sm = 10;
  gpu.dram_Bps = 1e12;
  gpu.l2_resident_bytes = 1e6;
  return gpu;
}

}  // namespace moe::test
