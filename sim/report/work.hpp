// How much work is in a step, and how well do its expert GEMMs run?
#pragma once
#include "report/result.hpp"

namespace moe {

/// Sums over the ops of the measured round.
struct Work {
  double dram_bytes = 0, unreplicated_bytes = 0;  ///< that one token's pass has to read: fullest rank of each stage
  double peak_seconds = 0;                        ///< FLOPs over the peak of their type, mean over ranks
  double flop = 0;                                ///< work that every rank repeats counts once; mean over ranks
};

Work work_of(const Lowered& l, const GpuSpec& gpu);

/// Over the grouped GEMMs alone, without top-k, permutation and the sum over experts.
ExpertGemm expert_gemm(const Case& c, const Lowered& l, const Timeline& t);

}  // namespace moe
