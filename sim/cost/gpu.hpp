// What can the GPU do at best? Datasheet facts, from calibration/gpus/<name>.yaml.
#pragma once
#include <string>

namespace moe {

struct GpuSpec {
  std::string name;              ///< file name without .yaml
  std::string product;
  int sm = 0;                    ///< streaming multiprocessors
  double dram_Bps = 0;           ///< peak memory bandwidth
  double memory_bytes = 0;       ///< installed
  double usable_bytes = 0;       ///< what the driver leaves to programs; memory_bytes where that is not known
  double l2_bytes = 0;
  double l2_Bps = 0;             ///< what all SMs together read from L2; 0: not known
  double l2_resident_bytes = 0;  ///< footprint up to which repeated reads hit L2 (fit; kernels.md 0.6)
  double l2_sharpness = 40;      ///< exponent of the hit curve (kernels.md 2)
  double bf16_flops = 0, fp8_flops = 0, fp4_flops = 0;  ///< dense tensor-core peak, FLOP/s; 0: not supported
  double shared_memory_bytes = 0;  ///< per SM, usable by one block
  double power_watts = 0;
};

/// Number format in which the multiply runs: decides the peak that FLOPs are held against.
enum class ComputeType { bf16, fp8, fp4 };
inline double peak_flops(const GpuSpec& g, ComputeType t) {
  return t == ComputeType::bf16 ? g.bf16_flops : t == ComputeType::fp8 ? g.fp8_flops : g.fp4_flops;
}

}  // namespace moe
