// One pass, no reduction: activation, add, copy, RoPE, cache write, embedding.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr int kThreads = 256;

int blocks_for(long items) {
  return static_cast<int>(std::clamp<long>((items + kThreads - 1) / kThreads, 1, 16L * device_facts().sm));
}
__device__ long first_item() { return static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ long item_step() { return static_cast<long>(gridDim.x) * blockDim.x; }

__global__ void silu_mul(const bf16* __restrict__ x, bf16* __restrict__ y, int cols, int rows,
                         const int* __restrict__ row_count) {
  const int per_row = cols / 8;
  const long chunks = static_cast<long>(row_count != nullptr ? *row_count : rows) * per_row;
  for (long i = first_item(); i < chunks; i += item_step()) {
    const long row = i / per_row, at = i % per_row * 8;
    float gate[8], up[8];
    load8(x + row * 2 * cols + at, gate);
    load8(x + row * 2 * cols + cols + at, up);
    for (int j = 0; j < 8; ++j) up[j] *= gate[j] / (1 + __expf(-gate[j]));
    store8(y + row * cols + at, up);
  }
}

__global__ void add(const bf16* __restrict__ a, const bf16* __restrict__ b, bf16* __restrict__ y, long chunks) {
  for (long i = first_item(); i < chunks; i += item_step()) {
    float u[8], v[8];
    load8(a + 8 * i, u);
    load8(b + 8 * i, v);
    for (int j = 0; j < 8; ++j) u[j] += v[j];
    store8(y + 8 * i, u);
  }
}

__global__ void copy(const uint4* __restrict__ x, uint4* __restrict__ y, long chunks) {
  for (long i = first_item(); i < chunks; i += item_step()) y[i] = x[i];
}

/// One thread per pair of values.
__global__ void rope(bf16* x, const int* __restrict__ positions, const float* __restrict__ table, int heads, int dim,
                     long pairs) {
  const int half = dim / 2;
  for (long i = first_item(); i < pairs; i += item_step()) {
    const long head = i / half;
    const int at = static_cast<int>(i % half);
    const float* angles = table + static_cast<long>(positions[head / heads]) * dim;
    bf16* p = x + head * dim + at;
    const float a = __bfloat162float(p[0]), b = __bfloat162float(p[half]), c = angles[at], s = angles[half + at];
    p[0] = __float2bfloat16(a * c - b * s);
    p[half] = __float2bfloat16(b * c + a * s);
  }
}

/// scatter: y[slots[row]] = x[row]; gather: y[row] = x[slots[row]].
template <bool kScatter>
__global__ void move_rows(const bf16* __restrict__ x, const int* __restrict__ slots, bf16* __restrict__ y, int width,
                          long chunks) {
  const int per_row = width / 8;
  for (long i = first_item(); i < chunks; i += item_step()) {
    const long row = i / per_row, at = i % per_row * 8, slot = slots[row];
    const long from = (kScatter ? row : slot) * width + at, to = (kScatter ? slot : row) * width + at;
    *reinterpret_cast<uint4*>(y + to) = *reinterpret_cast<const uint4*>(x + from);
  }
}

__global__ void to_float(const bf16* __restrict__ x, float4* __restrict__ y, long chunks) {
  for (long i = first_item(); i < chunks; i += item_step()) {
    float v[8];
    load8(x + 8 * i, v);
    y[2 * i] = {v[0], v[1], v[2], v[3]};
    y[2 * i + 1] = {v[4], v[5], v[6], v[7]};
  }
}

}  // namespace

void launch_silu_mul(cudaStream_t stream, const bf16* x, bf16* y, int rows, int cols, const int* row_count) {
  const long chunks = static_cast<long>(rows) * cols / 8;
  silu_mul<<<blocks_for(chunks), kThreads, 0, stream>>>(x, y, cols, rows, row_count);
  BENCH_CHECK_LAUNCH();
}

void launch_add(cudaStream_t stream, const bf16* a, const bf16* b, bf16* y, long elements) {
  add<<<blocks_for(elements / 8), kThreads, 0, stream>>>(a, b, y, elements / 8);
  BENCH_CHECK_LAUNCH();
}

void launch_copy(cudaStream_t stream, const bf16* x, bf16* y, long elements) {
  copy<<<blocks_for(elements / 8), kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(x),
                                                          reinterpret_cast<uint4*>(y), elements / 8);
  BENCH_CHECK_LAUNCH();
}

void launch_rope(cudaStream_t stream, bf16* x, const int* positions, const float* table, int rows, int heads,
                 int dim) {
  const long pairs = static_cast<long>(rows) * heads * dim / 2;
  rope<<<blocks_for(pairs), kThreads, 0, stream>>>(x, positions, table, heads, dim, pairs);
  BENCH_CHECK_LAUNCH();
}

void launch_kv_write(cudaStream_t stream, const bf16* x, const int* slots, bf16* cache, int rows, int width) {
  const long chunks = static_cast<long>(rows) * width / 8;
  move_rows<true><<<blocks_for(chunks), kThreads, 0, stream>>>(x, slots, cache, width, chunks);
  BENCH_CHECK_LAUNCH();
}

void launch_embedding(cudaStream_t stream, const int* ids, const bf16* table, bf16* y, int rows, int cols) {
  const long chunks = static_cast<long>(rows) * cols / 8;
  move_rows<false><<<blocks_for(chunks), kThreads, 0, stream>>>(table, ids, y, cols, chunks);
  BENCH_CHECK_LAUNCH();
}

void launch_to_float(cudaStream_t stream, const bf16* x, float* y, long elements) {
  to_float<<<blocks_for(elements / 8), kThreads, 0, stream>>>(x, reinterpret_cast<float4*>(y), elements / 8);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
