// The int4 kernel behind launch_grouped_gemm.
#pragma once
#include "kernels/grouped_gemm.hpp"

namespace moe::bench {

/// x [rows][k], y [sorted rows][n] bf16; w packed as fragments.cuh says.
void launch_grouped_w4a16(cudaStream_t stream, const GroupedGemm& g, const bf16* x, const void* w, bf16* y);

}  // namespace moe::bench
