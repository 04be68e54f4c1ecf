// Weights in the order in which the grouped GEMM's lanes read them (kernels/fragments.cuh says it).
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

/// Plain [experts][n][k] to packed. bf16: source bf16. fp8: source e4m3. int4: source one byte per value, 0..15, and
/// scales bf16 [experts][n][k/32].
void launch_pack(cudaStream_t stream, Format format, const void* source, const bf16* scales, int experts, int n, int k,
                 void* packed);

/// Random packed weights without a plain source: values of deviation 1/16 (bf16), 1 (fp8), all nibbles alike with
/// scales of about 1/64 (int4).
void fill_packed(cudaStream_t stream, Format format, int experts, int n, int k, std::uint64_t seed, void* packed);

}  // namespace moe::bench
