// Absorbed MLA decode attention: all heads read one latent row (576) per token, its first 512 columns are also the
// values. A block takes one sequence, 16 MT query rows (heads times query tokens) and one part of the tokens, kTokens at a
// time: its eight warps split the scores by tokens and k, then the output by columns. 64 tokens at a time read the queries
// from shared memory half as often; two of those tiles leave room for 32 query rows.
#include "kernels/attention.hpp"
#include "kernels/split.cuh"

namespace moe::bench {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps, kStages = 2, kStartTokens = 96;
constexpr int kWidth = kLatent + kRope, kRowBytes = kWidth * 2;
constexpr float kLog2e = 1.4426950408889634f;
// Scale of DeepSeek-V3's heads before absorption: 128 + 64 wide.
constexpr float kHeadWidth = 192;

template <int MT, int kTokens>
struct Shared {
  static constexpr int kPadded = kTokens + 8;  ///< columns of a row of probabilities: 80 or 144 bytes, no bank twice
  static constexpr int kTile = kTokens * kRowBytes;
  static constexpr int kQuery = 16 * MT * kRowBytes;
  static constexpr int kScores = 2 * 16 * MT * kTokens * 4;
  static constexpr int kProbabilities = 16 * MT * kPadded * 2;
  static constexpr int kBytes = kQuery + kStages * kTile + kScores + kProbabilities + 16 * MT * 2 * 4;
};

struct Arguments {
  MlaShape s;
  const bf16 *q, *cache;
  bf16* y;
  float *values, *lse;
  int splits, row_tiles, chunk;
};

/// Address of 16-byte chunk `chunk` of a row of 1152 bytes; chunks of 8 rows fall into 8 different bank groups.
__device__ std::uint32_t chunk_at(std::uint32_t base, int row, int chunk) {
  return base + static_cast<std::uint32_t>(row * kRowBytes + ((chunk ^ (row & 7)) * 16));
}

/// Rows follow one another in the cache: piece i of the tile is 16 bytes at 16 i.
template <int kTokens>
__device__ void copy_tile(std::uint32_t to, const bf16* cache, int first, int end) {
  constexpr int kChunks = kWidth / 8;
  const char* from = reinterpret_cast<const char*>(cache) + static_cast<long>(first) * kRowBytes;
  const int pieces = (end - first) * kChunks;
#pragma unroll
  for (int i = 0; i < kTokens * kChunks / kThreads; ++i) {
    const int at = i * kThreads + static_cast<int>(threadIdx.x);
    const bool there = at < pieces;
    copy16(chunk_at(to, at / kChunks, at % kChunks), from + (there ? at * 16 : 0), there);
  }
}

template <int MT, int kTokens>
__global__ void __launch_bounds__(kThreads) mla(const Arguments a) {
  extern __shared__ __align__(128) char shared[];
  using Layout = Shared<MT, kTokens>;
  constexpr int kTileBytes = Layout::kTile, kPadded = Layout::kPadded;
  constexpr int kEights = kTokens / 32;  // of tokens that a warp scores
  constexpr int kRows = 16 * MT, kPerRow = kThreads / kRows, kMine = kTokens / kPerRow;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int split = static_cast<int>(blockIdx.x), tile = static_cast<int>(blockIdx.y) % a.row_tiles;
  const long sequence = static_cast<int>(blockIdx.y) / a.row_tiles;
  const int rows = a.s.heads * a.s.queries, first_row = tile * kRows;
  const int begin = split * a.chunk, end = min(a.s.context, begin + a.chunk);
  const bf16* cache = a.cache + sequence * a.s.context * kWidth;
  const std::uint32_t queries = shared_address(shared), tiles = queries + Layout::kQuery;
  float* scores = reinterpret_cast<float*>(shared + Layout::kQuery + kStages * kTileBytes);
  bf16* probabilities = reinterpret_cast<bf16*>(reinterpret_cast<char*>(scores) + Layout::kScores);
  float* factors = reinterpret_cast<float*>(reinterpret_cast<char*>(probabilities) + Layout::kProbabilities);
  float* sums = factors + kRows;
  const std::uint32_t probability_base = shared_address(probabilities);

  constexpr int kChunks = kWidth / 8;
  for (int at = thread; at < kRows * kChunks; at += kThreads) {
    const int row = at / kChunks, c = at % kChunks;
    const bool there = first_row + row < rows;
    copy16(chunk_at(queries, row, c), a.q + (sequence * rows + (there ? first_row + row : 0)) * kWidth + c * 8, there);
  }
  copy_tile<kTokens>(tiles, cache, begin, end);
  commit_copies();

  // Places in a tile that do not change: keys of the scores, queries, values of the output (see chunk_at).
  const int tokens = warp % 4 * 8 * kEights, half = warp / 4;
  const std::uint32_t key_at = chunk_at(0, tokens + lane % 8, 4 * half + lane / 8);
  const std::uint32_t query_at[2] = {chunk_at(queries, lane % 16, 4 * half + lane / 16), chunk_at(queries, lane % 16, 4 * half + 2 + lane / 16)};
  std::uint32_t value_at[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) value_at[n] = chunk_at(0, lane % 16, warp * 8 + 2 * n + lane / 16);

  const int my_row = thread / kPerRow, my_token = thread % kPerRow * kMine;  // of the softmax step
  const int sees = a.s.context - (a.s.queries - 1 - min(first_row + my_row, rows - 1) / a.s.heads);
  const float scale = kLog2e * rsqrtf(kHeadWidth);
  float top = -INFINITY, sum = 0;
  float out[MT][8][4] = {};
  const int steps = max(0, (end - begin + kTokens - 1) / kTokens);
  for (int i = 0; i < steps; ++i) {
    const int first = begin + i * kTokens;
    const std::uint32_t here = tiles + static_cast<std::uint32_t>(i % kStages * kTileBytes);
    wait_copies<0>();
    __syncthreads();  // this tile is there, and everybody is done with the other one
    if (i + 1 < steps) copy_tile<kTokens>(tiles + static_cast<std::uint32_t>((i + 1) % kStages * kTileBytes), cache, first + kTokens, end);
    commit_copies();
    // Scores: 8 kEights tokens and half of k per warp: half of every 128 bytes of a row.
    float score[kEights][MT][2][4] = {};
#pragma unroll
    for (int c = 0; c < kChunks / 8; ++c) {
      uint4 w[kEights];
#pragma unroll
      for (int e = 0; e < kEights; ++e) w[e] = ldmatrix(here + key_at + e * 8 * kRowBytes + c * 128);
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        const uint4 x = ldmatrix(query_at[0] + m * 16 * kRowBytes + c * 128);
        const uint4 z = ldmatrix(query_at[1] + m * 16 * kRowBytes + c * 128);
#pragma unroll
        for (int e = 0; e < kEights; ++e) {
          mma_bf16(score[e][m][0], x.x, x.y, x.z, x.w, w[e].x, w[e].y);
          mma_bf16(score[e][m][1], z.x, z.y, z.z, z.w, w[e].z, w[e].w);
        }
      }
    }
#pragma unroll
    for (int e = 0; e < kEights; ++e)
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          *reinterpret_cast<float2*>(scores + (half * kRows + 16 * m + lane / 4 + 8 * h) * kTokens + tokens + 8 * e + lane % 4 * 2) =
              {score[e][m][0][2 * h] + score[e][m][1][2 * h], score[e][m][0][2 * h + 1] + score[e][m][1][2 * h + 1]};
    __syncthreads();
    // Softmax: kPerRow neighbouring threads per row.
    {
      float s[kMine], now = top;
      const int last = min(end, sees);
#pragma unroll
      for (int j = 0; j < kMine; ++j) {
        const int at = my_row * kTokens + my_token + j;
        s[j] = first + my_token + j < last ? (scores[at] + scores[kRows * kTokens + at]) * scale : -INFINITY;
        now = fmaxf(now, s[j]);
      }
#pragma unroll
      for (int d = 1; d < kPerRow; d *= 2) now = fmaxf(now, __shfl_xor_sync(kAllLanes, now, d));
      const float safe = now == -INFINITY ? 0.0f : now;
      const float factor = exp2f(top - safe);
      top = now;
      sum *= factor;
#pragma unroll
      for (int j = 0; j < kMine; j += 2) {
        const float p = exp2f(s[j] - safe), r = exp2f(s[j + 1] - safe);
        sum += p + r;
        *reinterpret_cast<std::uint32_t*>(probabilities + my_row * kPadded + my_token + j) = pack_bf16(p, r);
      }
      if (thread % kPerRow == 0) factors[my_row] = factor;
    }
    __syncthreads();
    // Output: 64 columns per warp.
    uint4 p[MT][kTokens / 16];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      const float low = factors[16 * m + lane / 4], high = factors[16 * m + lane / 4 + 8];
#pragma unroll
      for (int n = 0; n < 8; ++n) out[m][n][0] *= low, out[m][n][1] *= low, out[m][n][2] *= high, out[m][n][3] *= high;
#pragma unroll
      for (int t = 0; t < kTokens / 16; ++t)
        p[m][t] = ldmatrix(probability_base + static_cast<std::uint32_t>((16 * m + lane % 16) * kPadded * 2 + t * 32 + lane / 16 * 16));
    }
#pragma unroll
    for (int t = 0; t < kTokens / 16; ++t)
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        const uint4 w = ldmatrix_transposed(here + value_at[n / 2] + t * 16 * kRowBytes);
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          mma_bf16(out[m][n], p[m][t].x, p[m][t].y, p[m][t].z, p[m][t].w, w.x, w.y);
          mma_bf16(out[m][n + 1], p[m][t].x, p[m][t].y, p[m][t].z, p[m][t].w, w.z, w.w);
        }
      }
  }
  wait_copies<0>();
#pragma unroll
  for (int d = 1; d < kPerRow; d *= 2) sum += __shfl_xor_sync(kAllLanes, sum, d);
  if (thread % kPerRow == 0) {
    sums[my_row] = sum;
    if (a.lse != nullptr && first_row + my_row < rows)
      a.lse[(sequence * rows + first_row + my_row) * a.splits + split] = sum > 0 ? top + log2f(sum) : -INFINITY;
  }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = 16 * m + lane / 4 + 8 * h;
      if (first_row + row >= rows) continue;
      const float inverse = sums[row] > 0 ? 1 / sums[row] : 0.0f;
      const long index = sequence * rows + first_row + row;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        const int column = warp * 64 + n * 8 + lane % 4 * 2;
        const float even = out[m][n][2 * h] * inverse, odd = out[m][n][2 * h + 1] * inverse;
        if (a.values == nullptr)
          *reinterpret_cast<std::uint32_t*>(a.y + index * kLatent + column) = pack_bf16(even, odd);
        else
          *reinterpret_cast<float2*>(a.values + (index * a.splits + split) * kLatent + column) = {even, odd};
      }
    }
}

/// 16-row groups per block: two where there are rows for them and shared memory holds them with 64 tokens.
int group_of(const MlaShape& s) {
  return s.heads * s.queries > 16 && device_facts().shared_bytes >= Shared<2, 64>::kBytes ? 2 : 1;
}
int row_tiles(const MlaShape& s) {
  const int rows = 16 * group_of(s);
  return (s.heads * s.queries + rows - 1) / rows;
}
int splits_of(const MlaShape& s) {
  const int per_sm = group_of(s) == 1 ? 2 : 1;  // by shared memory
  return splits_for(static_cast<long>(s.sequences) * row_tiles(s), s.context, per_sm, kStartTokens);
}
long rows_of(const MlaShape& s) { return static_cast<long>(s.sequences) * s.queries * s.heads; }

template <int MT, int kTokens>
void launch_group(cudaStream_t stream, const Arguments& a) {
  constexpr int kBytes = Shared<MT, kTokens>::kBytes;
  BENCH_CHECK(cudaFuncSetAttribute(mla<MT, kTokens>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(static_cast<unsigned>(a.splits), static_cast<unsigned>(a.s.sequences * a.row_tiles));
  mla<MT, kTokens><<<grid, kThreads, kBytes, stream>>>(a);
  BENCH_CHECK_LAUNCH();
}

}  // namespace

std::size_t mla_workspace_bytes(const MlaShape& s) {
  return static_cast<std::size_t>(rows_of(s) * splits_of(s) * (kLatent + 1)) * sizeof(float);
}

void launch_mla(cudaStream_t stream, const MlaShape& s, const bf16* q, const bf16* cache, bf16* y, void* workspace) {
  Arguments a{s, q, cache, y, nullptr, nullptr, splits_of(s), row_tiles(s), chunk_of(s.context, splits_of(s))};
  if (a.splits > 1) {
    a.values = static_cast<float*>(workspace);
    a.lse = a.values + rows_of(s) * a.splits * kLatent;
  }
  if (group_of(s) == 2) launch_group<2, 64>(stream, a);
  else launch_group<1, 32>(stream, a);
  if (a.splits == 1) return;
  merge_parts<kLatent><<<static_cast<unsigned>(rows_of(s)), kLatent / 2, 0, stream>>>(a.values, a.lse, a.splits, y);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
