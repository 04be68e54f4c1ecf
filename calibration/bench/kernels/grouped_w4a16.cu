// Grouped GEMM of W4A16 (w4a16.cuh says how a warp multiplies). Long k: the warps of a block share it and add up in shared
// memory. Short k: a warp takes several times 32 columns in turn, so that its loads never stop.
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/grouped_w4a16.hpp"
#include "kernels/w4a16.cuh"

namespace moe::bench {
namespace {

using namespace w4a16;

constexpr int kWarps = 4;  // of a block

struct Arguments {
  int n, k;
  int split;  ///< warps along k
  int turns;  ///< times 32 columns of a warp; 1 where k is split
  const int* tile_count;
  SortedRows rows;
  const int* gather;
  const bf16* x;
  const char* w;
  std::size_t expert_bytes;
  bf16* y;
};

/// Of a warp: up to 8 NT rows, `turns` times 32 columns, k blocks [begin, end).
struct Work {
  int expert, first, rows, column, turns, begin, end;
};

template <int NT>
__device__ ActivationSource<NT> rows_of(const Arguments& a, const Work& work, int lane) {
  ActivationSource<NT> source;
#pragma unroll
  for (int t = 0; t < NT; ++t) {
    const int row = kTokens * t + lane / 4;
    const long from = row >= work.rows ? 0 : a.gather != nullptr ? a.gather[work.first + row] : work.first + row;
    source.row[t] = row >= work.rows ? nullptr : reinterpret_cast<const char*>(a.x + from * a.k) + lane % 4 * 16;
  }
  return source;
}

__device__ void store(const Arguments& a, int row, int column, float even, float odd) {
  *reinterpret_cast<std::uint32_t*>(a.y + static_cast<long>(row) * a.n + column) = pack_bf16(even, odd);
}

/// k not split: 32 finished columns from this warp's sums to y.
__device__ void store_columns(const Arguments& a, const Work& work, int column, const float* sums, int lane) {
  __syncwarp();
  for (int at = lane; at < work.rows * kWarpColumns / 2; at += 32) {
    const int row = at / (kWarpColumns / 2), c = at % (kWarpColumns / 2) * 2;
    store(a, work.first + row, column + c, sums[row * kSumStride + c], sums[row * kSumStride + c + 1]);
  }
  __syncwarp();
}

/// sums: this warp's part of shared memory. kTurns: whole columns in turn; else it holds the warp's share of k in the end.
/// kAhead: stages of weights that are on their way.
template <int NT, int kAhead, bool kTurns>
__device__ void compute(const Arguments& a, const Work& work, float* sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32, stages = (kTurns ? work.turns : 1) * (work.end - work.begin);
  WeightSource<kTurns> weights(a.w + static_cast<std::size_t>(work.expert) * a.expert_bytes + static_cast<std::size_t>(work.column / kWarpColumns) * column_bytes<Format::int4>(a.k),
                       a.k, work.begin, work.end, lane);
  Weights ring[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (i < stages) weights.load(ring[i]);
  const ActivationSource<NT> rows = rows_of<NT>(a, work, lane);
  const auto after = [&](int b) { return kTurns && b + 1 == work.end ? work.begin : b + 1; };
  // One piece of 8 tokens travels ahead like the weights; more would not fit in registers, and mostly come from L1.
  Activations<1> early[kAhead][2];
  int b = work.begin, b_early = work.begin, column = work.column;
  const auto load_early = [&](int i) {
    if constexpr (NT == 1) {
      early[i][0] = rows.load(b_early, 0);
      early[i][1] = rows.load(b_early, 1);
      b_early = after(b_early);
    }
  };
#pragma unroll
  for (int i = 0; i < kAhead; ++i) load_early(i);
  float acc[2][NT][4] = {};
  for (int done = 0; done < stages; done += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (done + i >= stages) break;
      Weights& r = ring[i];
      if constexpr (NT == 1) {
        multiply<1>(acc, r.values[0], r.scales.x, r.scales.y, early[i][0]);
        multiply<1>(acc, r.values[1], r.scales.z, r.scales.w, early[i][1]);
      } else {
        multiply<NT>(acc, r.values[0], r.scales.x, r.scales.y, rows.load(b, 0));
        multiply<NT>(acc, r.values[1], r.scales.z, r.scales.w, rows.load(b, 1));
      }
      if (done + i + kAhead < stages) {
        weights.load(r);
        load_early(i);
      }
      b = after(b);
      if (!kTurns || b != work.begin) continue;
      put<NT>(acc, sums, lane);
      store_columns(a, work, column, sums, lane);
      column += kWarpColumns;
#pragma unroll
      for (int j = 0; j < 8 * NT; ++j) acc[j / (4 * NT)][j / 4 % NT][j % 4] = 0;
    }
  }
  if constexpr (!kTurns) put<NT>(acc, sums, lane);
}

/// kMost: pieces of 8 tokens in a full tile; kBlocks: of an SM, what the registers allow.
template <int kMost, int kBlocks, int kAhead, bool kTurns>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) multiply_tiles(const Arguments a) {
  extern __shared__ __align__(16) float sums[];  // [warp][row][kSumStride]
  constexpr int kWarpSums = kMost * kTokens * kSumStride;
  const int tile = static_cast<int>(blockIdx.y), count = *a.tile_count;  // all four loads at once: entries past the
  const int warp = static_cast<int>(threadIdx.x) / 32, part = warp % a.split, blocks = a.k / kStageK;  // end hold anything
  Work work{a.rows.tile_expert[tile], a.rows.tile_row[tile], a.rows.tile_rows[tile], 0, 0, blocks * part / a.split, blocks * (part + 1) / a.split};
  if (tile >= count) return;
  const int block_column = static_cast<int>(blockIdx.x) * (kWarps / a.split) * a.turns * kWarpColumns;
  work.column = block_column + warp / a.split * a.turns * kWarpColumns;
  work.turns = min(a.turns, (a.n - work.column) / kWarpColumns);
  if (work.turns > 0) {
    float* mine = sums + warp * kWarpSums;
    if (kMost <= 2 && work.rows <= 8) compute<1, kAhead, kTurns>(a, work, mine);
    else if (kMost >= 2 && kMost <= 4 && work.rows <= 16) compute<2, kAhead, kTurns>(a, work, mine);
    else if (kMost >= 4 && work.rows <= 32) compute<4, kAhead, kTurns>(a, work, mine);
    else if (kMost >= 8) compute<8, kAhead, kTurns>(a, work, mine);
  }
  if constexpr (kTurns) return;
  __syncthreads();
  const int width = min(kWarps / a.split * kWarpColumns, a.n - block_column) / 2;  // pairs of columns
  for (int i = static_cast<int>(threadIdx.x); i < work.rows * width; i += 32 * kWarps) {
    const int row = i / width, c = i % width * 2, group = c / kWarpColumns;
    const float* from = sums + group * a.split * kWarpSums + row * kSumStride + c % kWarpColumns;
    float even = 0, odd = 0;
    for (int p = 0; p < a.split; ++p) {
      even += from[p * kWarpSums];
      odd += from[p * kWarpSums + 1];
    }
    store(a, work.first + row, block_column + c, even, odd);
  }
}

template <int kMost, int kBlocks, int kAhead, bool kTurns>
void launch_kernel(cudaStream_t stream, const GroupedGemm& g, const Arguments& a) {
  constexpr int kShared = kWarps * kMost * kTokens * kSumStride * static_cast<int>(sizeof(float));
  const auto kernel = multiply_tiles<kMost, kBlocks, kAhead, kTurns>;
  BENCH_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const int columns = kWarpColumns * kWarps / a.split * a.turns;
  const dim3 grid(static_cast<unsigned>((g.n + columns - 1) / columns), static_cast<unsigned>(g.max_tiles));
  kernel<<<grid, 32 * kWarps, kShared, stream>>>(a);
  BENCH_CHECK_LAUNCH();
}

template <int kMost, int kBlocks, int kAhead>
void launch(cudaStream_t stream, const GroupedGemm& g, const Arguments& a) {
  if (a.split == 1) launch_kernel<kMost, kBlocks, kAhead, true>(stream, g, a);
  else launch_kernel<kMost, kBlocks, kAhead, false>(stream, g, a);
}

/// Warps along k: at least 16 stages each.
int split_of(int k) {
  int split = kWarps;
  while (split > 1 && k / kStageK < 16 * split) split /= 2;
  return split;
}

/// Turns of a warp where k is not split: about 32 stages in all, as long as every SM still has 48 warps to do.
int turns_of(const GroupedGemm& g) {
  const long warps = static_cast<long>(g.max_tiles) * g.n / kWarpColumns, stages = g.k / kStageK;
  return static_cast<int>(std::clamp(std::min(warps / (48L * device_facts().sm), (32 + stages - 1) / stages), 1L, 8L));
}

}  // namespace

void launch_grouped_w4a16(cudaStream_t stream, const GroupedGemm& g, const bf16* x, const void* w, bf16* y) {
  const int split = split_of(g.k);
  const Arguments a{g.n, g.k, split, split == 1 ? turns_of(g) : 1, g.tile_count, g.rows, g.gather, x, static_cast<const char*>(w), packed_bytes(Format::int4, g.n, g.k), y};
  // Blocks of an SM and stages ahead: the best of those tried on an H200.
  if (g.tile_rows == 16 && g.most_rows <= 8) launch<1, 6, 2>(stream, g, a);
  else if (g.tile_rows == 16) launch<2, 5, 2>(stream, g, a);
  else if (g.tile_rows == 32) launch<4, 4, 2>(stream, g, a);
  else launch<8, 2, 2>(stream, g, a);
}

}  // namespace moe::bench
