// The small kernels between the large ones: norms, activation, RoPE, cache write, casts, sampling, copies.
#pragma once
#include "kernels/types.hpp"

namespace moe::bench {

/// y = x / rms(x) * weight, per row. cols: multiple of 8, at most 32768.
void launch_rmsnorm(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* y, int rows, int cols);
/// residual += x; y = norm(residual).
void launch_add_rmsnorm(cudaStream_t stream, const bf16* x, bf16* residual, const bf16* weight, bf16* y, int rows,
                        int cols);
/// y[r][c] = silu(x[r][c]) x[r][cols + c]; x has 2 cols per row. row_count: on the device, only so many of the rows.
void launch_silu_mul(cudaStream_t stream, const bf16* x, bf16* y, int rows, int cols, const int* row_count = nullptr);
/// y = a + b.
void launch_add(cudaStream_t stream, const bf16* a, const bf16* b, bf16* y, long elements);
/// y = x: a kernel that reads and writes `elements` 16-bit values (concatenate, split, gate, write to a cache).
void launch_copy(cudaStream_t stream, const bf16* x, bf16* y, long elements);
/// Rotates pairs (i, i + dim/2) of every head in place; position of a row is positions[row]. cos and sin are found
/// in a table [max_position][dim] (cos first half, sin second half, fp32).
void launch_rope(cudaStream_t stream, bf16* x, const int* positions, const float* table, int rows, int heads, int dim);
/// cache[slots[row]][:] = x[row][:].
void launch_kv_write(cudaStream_t stream, const bf16* x, const int* slots, bf16* cache, int rows, int width);
/// y[row] = table[ids[row]].
void launch_embedding(cudaStream_t stream, const int* ids, const bf16* table, bf16* y, int rows, int cols);

/// e4m3 with one given scale: y = x / scale.
void launch_quantise(cudaStream_t stream, const bf16* x, float scale, fp8_bits* y, long elements);
/// e4m3 with a scale per row that is found first: scales[row] = max|x| / 448.
void launch_quantise_rows(cudaStream_t stream, const bf16* x, fp8_bits* y, float* scales, int rows, int cols);
/// Activation and row-wise quantisation in one pass: x as in silu_mul.
void launch_silu_mul_quantise(cudaStream_t stream, const bf16* x, fp8_bits* y, float* scales, int rows, int cols,
                              const int* row_count);
/// e2m1, two per byte, one e4m3 scale per 16 in cuBLASLt's tiled order (128 rows x 4 scales).
void launch_quantise_nvfp4(cudaStream_t stream, const bf16* x, std::uint8_t* y, std::uint8_t* scales, int rows,
                           int cols);
/// Bytes of the tiled scales of [rows][cols].
std::size_t nvfp4_scale_bytes(int rows, int cols);

/// ids[row] = argmax(logits[row] / temperature + Gumbel noise), which samples the softmax; temperature 0: the argmax.
/// Scratch of sampling_workspace_bytes(rows) is zero before the first use; each launch leaves it zero.
std::size_t sampling_workspace_bytes(int rows);
void launch_sample(cudaStream_t stream, const float* logits, int rows, int vocab, float temperature,
                   std::uint64_t seed, int* ids, void* workspace);
/// y = softmax(x) over the vocabulary, fp32, one block per row.
void launch_softmax(cudaStream_t stream, const float* x, float* y, int rows, int vocab);
/// y (fp32) = x (bf16): the first kernel of a sampler.
void launch_to_float(cudaStream_t stream, const bf16* x, float* y, long elements);

/// A kernel that does nothing: what a launch or a graph node costs.
void launch_empty(cudaStream_t stream);
/// Reads `bytes` (a multiple of 16) once; `sink` (4 bytes) keeps the compiler from dropping the loads.
void launch_read(cudaStream_t stream, const void* x, std::size_t bytes, unsigned* sink);

}  // namespace moe::bench
