// Grouped GEMM of bf16 and fp8 (int4: grouped_w4a16.cu). Two kernels over the same stages (fragments.cuh):
//   skinny  tiles of 16 rows: the warps split k (and columns where k is short); nothing is shared until the end
//   wide    tiles of 32 or 64 rows: the four warps take 32 columns each and share the activations
#include <algorithm>

#include "harness/check.hpp"
#include "kernels/fragments.cuh"
#include "kernels/grouped_gemm.hpp"
#include "kernels/grouped_w4a16.hpp"

namespace moe::bench {
namespace {

constexpr int kWideWarps = 4;
constexpr std::size_t kSharedMost = 96 * 1024;  // fits SM120's 99 KB

struct Arguments {
  int n, k;
  int split, used;  ///< skinny: warps along k, and stages that a warp's share of k fills
  const int* tile_count;
  SortedRows rows;
  const int* gather;
  const char* x;
  const float* x_scale;
  const char* w;
  std::size_t expert_bytes;
  const float* w_scale;
  bf16* y;
};

struct Tile {
  int expert, first, rows;
};
__device__ Tile tile_of(const Arguments& a) {
  const int t = static_cast<int>(blockIdx.y), count = *a.tile_count;  // all four loads at once: entries past the end
  const Tile tile{a.rows.tile_expert[t], a.rows.tile_row[t], a.rows.tile_rows[t]};  // hold anything
  return t < count ? tile : Tile{0, 0, 0};
}

/// Byte offset of a row of x, for row `r` of the tile.
template <Format F>
__device__ long row_offset(const Arguments& a, const Tile& t, int r) {
  if (r >= t.rows) return -1;
  const long row = a.gather != nullptr ? a.gather[t.first + r] : t.first + r;
  return row * a.k * Stage<F>::kActivationBytes;
}

/// One fragment slot: row r of the tile, piece u, lane quarter q.
template <Format F>
__device__ void copy_piece(std::uint32_t to, const Arguments& a, long offset, int block, int u, int q) {
  const long at = static_cast<long>(block) * kStageK * Stage<F>::kActivationBytes + u * 64 + q * 16;
  copy16(to, a.x + (offset < 0 ? 0 : offset + at), offset >= 0);
}

template <Format F>
__device__ void store_pair(const Arguments& a, const Tile& t, int r, int column, float even, float odd) {
  if (r >= t.rows) return;
  if constexpr (F == Format::fp8) {
    const long row = a.gather != nullptr ? a.gather[t.first + r] : t.first + r;
    const float scale = a.x_scale[row] * a.w_scale[t.expert];
    even *= scale;
    odd *= scale;
  }
  *reinterpret_cast<std::uint32_t*>(a.y + static_cast<long>(t.first + r) * a.n + column) = pack_bf16(even, odd);
}

template <Format F, int kWarps, int kStages>
__global__ void __launch_bounds__(32 * kWarps) skinny(const Arguments a) {
  extern __shared__ __align__(128) char shared[];
  constexpr int kBytes = Stage<F>::kRowBytes16 + Stage<F>::kWeightBytes, kPieces = Stage<F>::kPieces;
  const Tile t = tile_of(a);
  if (t.rows == 0) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int groups = kWarps / a.split, part = warp % a.split, group = warp / a.split;
  const int column = (static_cast<int>(blockIdx.x) * groups + group) * kWarpColumns;
  const int blocks = a.k / kStageK, begin = blocks * part / a.split;
  const int end = column < a.n ? blocks * (part + 1) / a.split : begin;
  const char* w = a.w + static_cast<std::size_t>(t.expert) * a.expert_bytes + static_cast<std::size_t>(column / kWarpColumns) * column_bytes<F>(a.k);
  const std::uint32_t base = shared_address(shared) + static_cast<std::uint32_t>(warp * a.used * kBytes);
  const auto stage_of = [&](int b) { return base + static_cast<std::uint32_t>((b - begin) % kStages * kBytes); };

  // Weights do not depend on which rows they meet: ask for them first.
  for (int b = begin; b < begin + kStages - 1 && b < end; ++b) copy_weights<F>(stage_of(b) + Stage<F>::kRowBytes16, w, a.k, b, lane);
  const long offset[2] = {row_offset<F>(a, t, lane / 4), row_offset<F>(a, t, lane / 4 + 8)};
  const auto copy_rows = [&](int b) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int u = 0; u < kPieces; ++u)
        copy_piece<F>(stage_of(b) + static_cast<std::uint32_t>((half * kPieces + u) * kUnit + lane * 16), a, offset[half], b, u, lane % 4);
  };
  for (int b = begin; b < begin + kStages - 1; ++b) {
    if (b < end) copy_rows(b);
    commit_copies();  // the first group holds all early weights too
  }
  float acc[1][4][4] = {};
  for (int b = begin; b < end; ++b) {
    wait_copies<kStages - 2>();
    __syncwarp();
    const int next = b + kStages - 1;
    if (next < end) {
      copy_weights<F>(stage_of(next) + Stage<F>::kRowBytes16, w, a.k, next, lane);
      copy_rows(next);
    }
    commit_copies();
    multiply<F, 1>(acc, stage_of(b), stage_of(b) + Stage<F>::kRowBytes16, lane);
  }
  wait_copies<0>();
  if (a.split == 1) {
    if (column >= a.n) return;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store_pair<F>(a, t, lane / 4, column + 8 * j + lane % 4 * 2, acc[0][j][0], acc[0][j][1]);
      store_pair<F>(a, t, lane / 4 + 8, column + 8 * j + lane % 4 * 2, acc[0][j][2], acc[0][j][3]);
    }
    return;
  }
  __syncthreads();
  float4* sums = reinterpret_cast<float4*>(shared);  // [warp][j][lane]
#pragma unroll
  for (int j = 0; j < 4; ++j) sums[(warp * 4 + j) * 32 + lane] = {acc[0][j][0], acc[0][j][1], acc[0][j][2], acc[0][j][3]};
  __syncthreads();
  if (column >= a.n) return;
  for (int j = part; j < 4; j += a.split) {
    float4 sum = sums[(group * a.split * 4 + j) * 32 + lane];
    for (int p = 1; p < a.split; ++p) {
      const float4 v = sums[((group * a.split + p) * 4 + j) * 32 + lane];
      sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w};
    }
    store_pair<F>(a, t, lane / 4, column + 8 * j + lane % 4 * 2, sum.x, sum.y);
    store_pair<F>(a, t, lane / 4 + 8, column + 8 * j + lane % 4 * 2, sum.z, sum.w);
  }
}

template <Format F, int MT, int kStages>
__global__ void __launch_bounds__(32 * kWideWarps) wide(const Arguments a) {
  extern __shared__ __align__(128) char shared[];
  constexpr int kWarps = kWideWarps;
  constexpr int kPieces = Stage<F>::kPieces, kRowBytes = MT * Stage<F>::kRowBytes16;
  constexpr int kBytes = kRowBytes + kWarps * Stage<F>::kWeightBytes;
  constexpr int kSlots = MT * 2 * kPieces / kWarps;  // row fragments that one warp copies
  static_assert(kSlots * kWarps == MT * 2 * kPieces);
  const Tile t = tile_of(a);
  if (t.rows == 0) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int column = (static_cast<int>(blockIdx.x) * kWarps + warp) * kWarpColumns, blocks = a.k / kStageK;
  const bool works = column < a.n;
  const char* w = a.w + static_cast<std::size_t>(t.expert) * a.expert_bytes + static_cast<std::size_t>(column / kWarpColumns) * column_bytes<F>(a.k);
  const std::uint32_t base = shared_address(shared);
  const auto stage_of = [&](int b) { return base + static_cast<std::uint32_t>(b % kStages * kBytes); };
  const auto weights_of = [&](int b) { return stage_of(b) + static_cast<std::uint32_t>(kRowBytes + warp * Stage<F>::kWeightBytes); };
  long offset[kSlots];
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {  // slot = (16-row group, half, piece)
    const int slot = warp * kSlots + s;
    offset[s] = row_offset<F>(a, t, slot / (2 * kPieces) * 16 + slot / kPieces % 2 * 8 + lane / 4);
  }
  const auto copy_stage = [&](int b) {
    if (works) copy_weights<F>(weights_of(b), w, a.k, b, lane);
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      const int slot = warp * kSlots + s;
      copy_piece<F>(stage_of(b) + static_cast<std::uint32_t>(slot * kUnit + lane * 16), a, offset[s], b, slot % kPieces, lane % 4);
    }
  };
  for (int b = 0; b < kStages - 1; ++b) {
    if (b < blocks) copy_stage(b);
    commit_copies();
  }
  float acc[MT][4][4] = {};
  for (int b = 0; b < blocks; ++b) {
    wait_copies<kStages - 2>();
    __syncthreads();
    if (b + kStages - 1 < blocks) copy_stage(b + kStages - 1);
    commit_copies();
    if (works) multiply<F, MT>(acc, stage_of(b), weights_of(b), lane);
  }
  wait_copies<0>();
  if (!works) return;
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store_pair<F>(a, t, 16 * m + lane / 4, column + 8 * j + lane % 4 * 2, acc[m][j][0], acc[m][j][1]);
      store_pair<F>(a, t, 16 * m + lane / 4 + 8, column + 8 * j + lane % 4 * 2, acc[m][j][2], acc[m][j][3]);
    }
}

template <class Kernel>
void launch(Kernel kernel, cudaStream_t stream, const GroupedGemm& g, const Arguments& a, int warps, int columns, std::size_t shared) {
  BENCH_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  const dim3 grid(static_cast<unsigned>((g.n + columns - 1) / columns), static_cast<unsigned>(g.max_tiles));
  kernel<<<grid, 32 * warps, shared, stream>>>(a);
  BENCH_CHECK_LAUNCH();
}

/// Warps along k: at least four stages each, or all columns.
int split_of(int k, int warps) {
  int split = warps;
  while (split > 1 && k / kStageK < 4 * split) split /= 2;
  return split;
}

template <Format F, int kWarps, int kStages>
void launch_skinny(cudaStream_t stream, const GroupedGemm& g, Arguments a) {
  constexpr std::size_t kStage = kWarps * static_cast<std::size_t>(Stage<F>::kRowBytes16 + Stage<F>::kWeightBytes);
  constexpr std::size_t kSums = kWarps * 32 * 16 * sizeof(float);
  static_assert(kStages * kStage <= kSharedMost && kSums <= kSharedMost);
  a.split = split_of(g.k, kWarps);
  a.used = std::min(kStages, (g.k / kStageK + a.split - 1) / a.split);
  launch(skinny<F, kWarps, kStages>, stream, g, a, kWarps, kWarpColumns * kWarps / a.split,
         std::max(static_cast<std::size_t>(a.used) * kStage, a.split > 1 ? kSums : 0));
}

/// Few blocks: eight warps share one, so that enough bytes are on their way. Many: small ones, several to an SM.
template <Format F>
void launch_16(cudaStream_t stream, const GroupedGemm& g, const Arguments& a) {
  constexpr int kDeep = F == Format::bf16 ? 4 : 3;  // bf16 stages are twice as large
  const long blocks = static_cast<long>(g.max_tiles) * g.n / kWarpColumns;
  const bool few = blocks <= 2L * device_facts().sm && split_of(g.k, 8) == 8;
  if (few && F != Format::bf16) launch_skinny<F, F == Format::bf16 ? 4 : 8, kDeep>(stream, g, a);
  else launch_skinny<F, 4, kDeep>(stream, g, a);
}

template <Format F, int MT>
void launch_wide(cudaStream_t stream, const GroupedGemm& g, const Arguments& a) {
  constexpr auto kStage = static_cast<std::size_t>(MT * Stage<F>::kRowBytes16 + kWideWarps * Stage<F>::kWeightBytes);
  constexpr int kStages = static_cast<int>(std::min<std::size_t>(4, kSharedMost / kStage));
  launch(wide<F, MT, kStages>, stream, g, a, kWideWarps, kWarpColumns * kWideWarps, kStages * kStage);
}

template <Format F>
void launch_rows(cudaStream_t stream, const GroupedGemm& g, const Arguments& a) {
  if (g.tile_rows == 16) launch_16<F>(stream, g, a);
  else if (g.tile_rows == 32) launch_wide<F, 2>(stream, g, a);
  else launch_wide<F, 4>(stream, g, a);
}

}  // namespace

int tile_rows_for(int tokens, int topk, int experts) {
  const double mean = static_cast<double>(tokens) * topk / experts;
  return mean <= 12 ? 16 : mean <= 24 ? 32 : 64;
}

std::size_t packed_bytes(Format format, int n, int k) {
  const std::size_t groups = static_cast<std::size_t>(n / kWarpColumns);
  switch (format) {
    case Format::bf16: return groups * column_bytes<Format::bf16>(k);
    case Format::fp8: return groups * column_bytes<Format::fp8>(k);
    case Format::int4: return groups * column_bytes<Format::int4>(k);
    default: throw Unsupported("no grouped GEMM of this suite multiplies nvfp4");
  }
}

void launch_grouped_gemm(cudaStream_t stream, Format format, const GroupedGemm& g, const void* x,
                         const float* x_scale, const void* w, const float* w_scale, bf16* y) {
  if (g.k % kStageK != 0 || g.n % kWarpColumns != 0)
    throw Unsupported("the grouped GEMM wants k in multiples of 64 and n of 32");
  const Arguments a{g.n, g.k, 1, 1, g.tile_count, g.rows, g.gather, static_cast<const char*>(x), x_scale,
                    static_cast<const char*>(w), packed_bytes(format, g.n, g.k), w_scale, y};
  if (format == Format::bf16) launch_rows<Format::bf16>(stream, g, a);
  else if (format == Format::fp8) launch_rows<Format::fp8>(stream, g, a);
  else launch_grouped_w4a16(stream, g, static_cast<const bf16*>(x), w, y);
}

}  // namespace moe::bench
