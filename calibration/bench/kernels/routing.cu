// Top-k (one warp per token), sorting rows by expert (one block), permute and combine.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/device.cuh"
#include "kernels/routing.hpp"

namespace moe::bench {
namespace {

constexpr int kMostExperts = 512, kSortThreads = 1024, kMostTopk = 32;

/// kPerLane logits per lane; k rounds of "largest of the warp, then out with it".
template <int kPerLane>
__global__ void topk_rows(const float* __restrict__ logits, int tokens, int experts, int topk, int* __restrict__ ids,
                          float* __restrict__ weights) {
  const int token = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (token >= tokens) return;
  float v[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int e = i * 32 + lane;
    v[i] = e < experts ? logits[static_cast<long>(token) * experts + e] : -INFINITY;
  }
  float mine = -INFINITY;  // lane j keeps the j-th choice
  int mine_id = 0;
  for (int j = 0; j < topk; ++j) {
    float best = v[0];
    int at = lane;
#pragma unroll
    for (int i = 1; i < kPerLane; ++i)
      if (v[i] > best) best = v[i], at = i * 32 + lane;
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
      const float other = __shfl_xor_sync(kAllLanes, best, d);
      const int other_at = __shfl_xor_sync(kAllLanes, at, d);
      if (other > best || (other == best && other_at < at)) best = other, at = other_at;
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i)
      if (at == i * 32 + lane) v[i] = -INFINITY;
    if (lane == j) mine = best, mine_id = at;
  }
  const float top = __shfl_sync(kAllLanes, mine, 0);
  const float e = lane < topk ? __expf(mine - top) : 0.0f;
  const float sum = warp_reduce(e, Sum{});
  if (lane < topk) {
    ids[static_cast<long>(token) * topk + lane] = mine_id;
    weights[static_cast<long>(token) * topk + lane] = e / sum;
  }
}

__global__ void logits_of(const int* __restrict__ choices, int experts, int topk, float* __restrict__ logits) {
  float* row = logits + static_cast<long>(blockIdx.x) * experts;
  const int* chosen = choices + static_cast<long>(blockIdx.x) * topk;
  for (int e = static_cast<int>(threadIdx.x); e < experts; e += static_cast<int>(blockDim.x)) {
    const std::uint32_t noise = (blockIdx.x * 977u + static_cast<unsigned>(e)) * 2654435761u >> 8;
    float v = static_cast<float>(noise) * (1.0f / 16777216);
    for (int j = 0; j < topk; ++j)
      if (chosen[j] == e) v += 4;
    row[e] = v;
  }
}

/// Inclusive sums of two arrays of kMostExperts in shared memory, all threads of the block.
__device__ void scan(int* a, int* b) {
  const int i = static_cast<int>(threadIdx.x);
  for (int d = 1; d < kMostExperts; d *= 2) {
    int x = 0, y = 0;
    if (i < kMostExperts && i >= d) x = a[i - d], y = b[i - d];
    __syncthreads();
    if (i < kMostExperts) a[i] += x, b[i] += y;
    __syncthreads();
  }
}

__global__ void sort_rows(const int* __restrict__ ids, int choices, int topk, int first_expert, int local_experts,
                          int tile_rows, SortedRows out) {
  __shared__ int rows[kMostExperts], row_end[kMostExperts], tile_end[kMostExperts];
  const int i = static_cast<int>(threadIdx.x);
  if (i < kMostExperts) rows[i] = 0;
  __syncthreads();
  for (int c = i; c < choices; c += kSortThreads) {
    const int e = ids[c] - first_expert;
    if (e >= 0 && e < local_experts) atomicAdd(&rows[e], 1);
  }
  __syncthreads();
  if (i < kMostExperts) {
    row_end[i] = rows[i];
    tile_end[i] = (rows[i] + tile_rows - 1) / tile_rows;
  }
  __syncthreads();
  scan(row_end, tile_end);
  if (i < kMostExperts) {
    const int n = rows[i], first = row_end[i] - n, tiles = (n + tile_rows - 1) / tile_rows;
    for (int t = 0; t < tiles; ++t) {
      const int at = tile_end[i] - tiles + t;
      out.tile_expert[at] = i;
      out.tile_row[at] = first + t * tile_rows;
      out.tile_rows[at] = min(tile_rows, n - t * tile_rows);
    }
    rows[i] = first;
  }
  if (i == 0) {
    out.count[0] = row_end[kMostExperts - 1];
    out.count[1] = tile_end[kMostExperts - 1];
  }
  __syncthreads();
  for (int c = i; c < choices; c += kSortThreads) {
    const int e = ids[c] - first_expert;
    const bool here = e >= 0 && e < local_experts;
    const int row = here ? atomicAdd(&rows[e], 1) : -1;
    out.row_of[c] = row;
    if (here) out.token_of[row] = c / topk;
  }
}

__global__ void permute(const bf16* __restrict__ x, const int* __restrict__ row_of, int topk, int hidden,
                        bf16* __restrict__ y) {
  const long to = row_of[blockIdx.x];
  if (to < 0) return;
  const bf16* from = x + static_cast<long>(blockIdx.x) / topk * hidden;
  for (int c = static_cast<int>(threadIdx.x) * 8; c < hidden; c += static_cast<int>(blockDim.x) * 8)
    *reinterpret_cast<uint4*>(y + to * hidden + c) = *reinterpret_cast<const uint4*>(from + c);
}

/// Block: one token, 8 values per thread.
__global__ void combine(const bf16* __restrict__ x, const int* __restrict__ row_of, const float* __restrict__ weights,
                        int topk, int hidden, bf16* __restrict__ y) {
  __shared__ int rows[kMostTopk];
  __shared__ float shares[kMostTopk];
  const long first = static_cast<long>(blockIdx.x) * topk;
  if (static_cast<int>(threadIdx.x) < topk) {
    rows[threadIdx.x] = row_of[first + threadIdx.x];
    shares[threadIdx.x] = weights[first + threadIdx.x];
  }
  __syncthreads();
  const int c = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * 8;
  if (c >= hidden) return;
  float sum[8] = {};
#pragma unroll 4
  for (int j = 0; j < topk; ++j) {
    if (rows[j] < 0) continue;
    float v[8];
    load8(x + static_cast<long>(rows[j]) * hidden + c, v);
    for (int i = 0; i < 8; ++i) sum[i] += shares[j] * v[i];
  }
  store8(y + static_cast<long>(blockIdx.x) * hidden + c, sum);
}

}  // namespace

void launch_topk(cudaStream_t stream, const float* logits, int tokens, int experts, int topk, int* ids,
                 float* weights) {
  if (experts > kMostExperts || topk > kMostTopk || topk > experts)
    throw Unsupported("top-k of more than 512 experts or 32 choices");
  const int threads = 128, blocks = (tokens * 32 + threads - 1) / threads;
  const auto launch = [&](auto kernel) { kernel<<<blocks, threads, 0, stream>>>(logits, tokens, experts, topk, ids, weights); };
  if (experts <= 32) launch(topk_rows<1>);
  else if (experts <= 128) launch(topk_rows<4>);
  else if (experts <= 256) launch(topk_rows<8>);
  else launch(topk_rows<16>);
  BENCH_CHECK_LAUNCH();
}

void launch_logits(cudaStream_t stream, const int* choices, int tokens, int experts, int topk, float* logits) {
  logits_of<<<tokens, 128, 0, stream>>>(choices, experts, topk, logits);
  BENCH_CHECK_LAUNCH();
}

int max_tiles(int tokens, int topk, int local_experts, int tile_rows) {
  const int rows = tokens * topk;
  return std::min(rows, local_experts + rows / tile_rows);
}

void launch_sort_rows(cudaStream_t stream, const int* ids, int tokens, int topk, int first_expert, int local_experts,
                      int tile_rows, const SortedRows& out) {
  if (local_experts > kMostExperts) throw Unsupported("more than 512 local experts");
  sort_rows<<<1, kSortThreads, 0, stream>>>(ids, tokens * topk, topk, first_expert, local_experts, tile_rows, out);
  BENCH_CHECK_LAUNCH();
}

void launch_permute(cudaStream_t stream, const bf16* x, const int* row_of, int tokens, int topk, int hidden,
                    bf16* y) {
  permute<<<tokens * topk, 256, 0, stream>>>(x, row_of, topk, hidden, y);
  BENCH_CHECK_LAUNCH();
}

void launch_combine(cudaStream_t stream, const bf16* x, const int* row_of, const float* weights, int tokens, int topk,
                    int hidden, bf16* y) {
  const int threads = 128;
  const dim3 grid(static_cast<unsigned>(tokens), static_cast<unsigned>((hidden + 8 * threads - 1) / (8 * threads)));
  combine<<<grid, threads, 0, stream>>>(x, row_of, weights, topk, hidden, y);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
