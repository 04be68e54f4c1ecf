// Grouped-query decode attention. A block takes one sequence, one KV head, 16 query rows (heads of the group times
// query tokens) and one part of the cached tokens; its four warps take 16 tokens in turn, each with its own copies
// in flight, and meet only at the end.
#include "kernels/attention.hpp"
#include "kernels/split.cuh"

namespace moe::bench {
namespace {

constexpr int kWarps = 4, kRows = 16, kTokens = 16, kBlocksPerSm = 2, kStartTokens = 128;
constexpr float kLog2e = 1.4426950408889634f;

template <int kDim>
constexpr int stages() {
  return kDim <= 128 ? 3 : 2;
}
/// One stage of one warp: keys, then values, of kTokens tokens.
template <int kDim>
constexpr int stage_bytes() {
  return 2 * kTokens * kDim * 2;
}

struct Arguments {
  GqaShape s;
  const bf16 *q, *k, *v;
  bf16* y;
  float *values, *lse;  ///< parts; null: one split
  int splits, row_tiles, chunk;
};

/// Keys lie as fragments (lane's 16 bytes of token 8i + g, k 32 j + 8q); values as rows with swizzled 16-byte chunks.
template <int kDim>
__device__ void copy_tokens(std::uint32_t to, const bf16* k, const bf16* v, int first, int end, int lane) {
  const int g = lane / 4, q = lane % 4;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < kDim / 32; ++j) {
      const int token = first + 8 * i + g;
      const bool there = token < end;
      copy16(to + static_cast<std::uint32_t>((i * (kDim / 32) + j) * 512 + lane * 16), k + static_cast<long>(there ? token : 0) * kDim + 32 * j + 8 * q, there);
    }
  to += kTokens * kDim * 2;
  constexpr int kChunks = kDim / 8;  // per token
#pragma unroll
  for (int i = 0; i < kTokens * kChunks / 32; ++i) {
    const int at = i * 32 + lane, row = at / kChunks, chunk = at % kChunks, token = first + row;
    const bool there = token < end;
    copy16(to + static_cast<std::uint32_t>(row * kDim * 2 + ((chunk ^ (row & 7)) * 16)), v + static_cast<long>(there ? token : 0) * kDim + chunk * 8, there);
  }
}

template <int kDim>
__global__ void __launch_bounds__(32 * kWarps) gqa(const Arguments a) {
  extern __shared__ __align__(128) char shared[];
  constexpr int kStages = stages<kDim>(), kBytes = stage_bytes<kDim>();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const int split = static_cast<int>(blockIdx.x), tile = static_cast<int>(blockIdx.y) % a.row_tiles;
  const int head = static_cast<int>(blockIdx.y) / a.row_tiles % a.s.kv_heads;
  const int sequence = static_cast<int>(blockIdx.y) / a.row_tiles / a.s.kv_heads;
  const int group = a.s.heads / a.s.kv_heads, rows = group * a.s.queries;
  // Row r of the tile: query token r / group, head r % group of the group.
  const auto row_index = [&](int r) {
    const int at = tile * kRows + r;
    return (static_cast<long>(sequence) * a.s.queries + at / group) * a.s.heads + head * group + at % group;
  };
  const int begin = split * a.chunk, end = min(a.s.context, begin + a.chunk);
  const long cache = (static_cast<long>(sequence) * a.s.kv_heads + head) * a.s.context * kDim;
  const bf16 *k = a.k + cache, *v = a.v + cache;
  const std::uint32_t base = shared_address(shared) + static_cast<std::uint32_t>(warp * kStages * kBytes);
  const int mine = max(0, (end - begin - warp * kTokens + kWarps * kTokens - 1) / (kWarps * kTokens));
  const auto first_of = [&](int i) { return begin + (i * kWarps + warp) * kTokens; };
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < mine) copy_tokens<kDim>(base + static_cast<std::uint32_t>(i * kBytes), k, v, first_of(i), end, lane);
    commit_copies();
  }
  uint4 query[2][kDim / 32];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool there = tile * kRows + g + 8 * half < rows;
    const bf16* from = a.q + (there ? row_index(g + 8 * half) : 0) * kDim + 8 * q;
#pragma unroll
    for (int j = 0; j < kDim / 32; ++j) query[half][j] = there ? *reinterpret_cast<const uint4*>(from + 32 * j) : uint4{};
  }
  // Tokens that a row sees: query token t of Q sees all but the last Q - 1 - t.
  int sees[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) sees[half] = a.s.context - (a.s.queries - 1 - (tile * kRows + g + 8 * half) / group);
  const float scale = kLog2e * rsqrtf(static_cast<float>(kDim));
  float out[kDim / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  for (int i = 0; i < mine; ++i) {
    wait_copies<kStages - 2>();
    __syncwarp();
    const int next = i + kStages - 1;
    if (next < mine) copy_tokens<kDim>(base + static_cast<std::uint32_t>(next % kStages * kBytes), k, v, first_of(next), end, lane);
    commit_copies();
    const std::uint32_t keys = base + static_cast<std::uint32_t>(i % kStages * kBytes), values = keys + kTokens * kDim * 2;
    float score[2][4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int j = 0; j < kDim / 32; ++j) {
        const uint4 w = shared_load16(keys + static_cast<std::uint32_t>((t * (kDim / 32) + j) * 512 + lane * 16));
        mma_bf16(score[t], query[0][j].x, query[1][j].x, query[0][j].y, query[1][j].y, w.x, w.y);
        mma_bf16(score[t], query[0][j].z, query[1][j].z, query[0][j].w, query[1][j].w, w.z, w.w);
      }
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int last = min(end, sees[half]);
      float now = top[half];
#pragma unroll
      for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float& s = score[t][2 * half + c];
          s = first_of(i) + 8 * t + 2 * q + c < last ? s * scale : -INFINITY;
          now = fmaxf(now, s);
        }
      now = fmaxf(now, __shfl_xor_sync(kAllLanes, now, 1));
      now = fmaxf(now, __shfl_xor_sync(kAllLanes, now, 2));
      const float safe = now == -INFINITY ? 0.0f : now;
      factor[half] = exp2f(top[half] - safe);
      top[half] = now;
      sum[half] *= factor[half];
#pragma unroll
      for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float& s = score[t][2 * half + c];
          s = exp2f(s - safe);
          sum[half] += s;
        }
    }
    const std::uint32_t p0 = pack_bf16(score[0][0], score[0][1]), p1 = pack_bf16(score[0][2], score[0][3]);
    const std::uint32_t p2 = pack_bf16(score[1][0], score[1][1]), p3 = pack_bf16(score[1][2], score[1][3]);
#pragma unroll
    for (int n = 0; n < kDim / 8; n += 2) {
      const int row = lane % 16, part = n + lane / 16;
      const uint4 w = ldmatrix_transposed(values + static_cast<std::uint32_t>(row * kDim * 2 + ((part ^ (row & 7)) * 16)));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        float* o = out[n + m];
        o[0] *= factor[0], o[1] *= factor[0], o[2] *= factor[1], o[3] *= factor[1];
      }
      mma_bf16(out[n], p0, p1, p2, p3, w.x, w.y);
      mma_bf16(out[n + 1], p0, p1, p2, p3, w.z, w.w);
    }
  }
  wait_copies<0>();
  __syncthreads();
  // All warps' sums and outputs meet: out [warp][row][kDim], then top and sum [warp][row].
  float* outs = reinterpret_cast<float*>(shared);
  float* tops = outs + kWarps * kRows * kDim;
  float* sums = tops + kWarps * kRows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] += __shfl_xor_sync(kAllLanes, sum[half], 1);
    sum[half] += __shfl_xor_sync(kAllLanes, sum[half], 2);
    const int row = warp * kRows + g + 8 * half;
    if (q == 0) tops[row] = top[half], sums[row] = sum[half];
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n)
      *reinterpret_cast<float2*>(outs + row * kDim + 8 * n + 2 * q) = {out[n][2 * half], out[n][2 * half + 1]};
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kDim / 2; i += 32 * kWarps) {
    const int row = i / (kDim / 2), at = i % (kDim / 2) * 2;
    if (tile * kRows + row >= rows) continue;
    float all = -INFINITY, total = 0;
    for (int w = 0; w < kWarps; ++w) all = fmaxf(all, tops[w * kRows + row]);
    const float safe = all == -INFINITY ? 0.0f : all;
    float2 o{0, 0};
    for (int w = 0; w < kWarps; ++w) {
      const float share = exp2f(tops[w * kRows + row] - safe);
      const float2 part = *reinterpret_cast<const float2*>(outs + (w * kRows + row) * kDim + at);
      total += share * sums[w * kRows + row];
      o.x += share * part.x;
      o.y += share * part.y;
    }
    const float inverse = total > 0 ? 1 / total : 0.0f;
    const long index = row_index(row);
    if (a.values == nullptr) {
      *reinterpret_cast<std::uint32_t*>(a.y + index * kDim + at) = pack_bf16(o.x * inverse, o.y * inverse);
    } else {
      *reinterpret_cast<float2*>(a.values + (index * a.splits + split) * kDim + at) = {o.x * inverse, o.y * inverse};
      if (at == 0) a.lse[index * a.splits + split] = total > 0 ? safe + log2f(total) : -INFINITY;
    }
  }
}

int row_tiles(const GqaShape& s) { return (s.heads / s.kv_heads * s.queries + kRows - 1) / kRows; }
int splits_of(const GqaShape& s) { return splits_for(static_cast<long>(s.sequences) * s.kv_heads * row_tiles(s), s.context, kBlocksPerSm, kStartTokens); }
long rows_of(const GqaShape& s) { return static_cast<long>(s.sequences) * s.queries * s.heads; }

template <int kDim>
void launch_dim(cudaStream_t stream, Arguments a, void* workspace) {
  constexpr int kPipeline = kWarps * stages<kDim>() * stage_bytes<kDim>();
  constexpr int kMerge = kWarps * kRows * (kDim + 2) * 4;
  constexpr int kShared = kPipeline > kMerge ? kPipeline : kMerge;
  if (device_facts().shared_bytes < kShared) throw Unsupported("attention heads of 256 need 128 KB of shared memory");
  if (a.splits > 1) {
    a.values = static_cast<float*>(workspace);
    a.lse = a.values + rows_of(a.s) * a.splits * kDim;
  }
  BENCH_CHECK(cudaFuncSetAttribute(gqa<kDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const dim3 grid(static_cast<unsigned>(a.splits), static_cast<unsigned>(a.s.sequences * a.s.kv_heads * a.row_tiles));
  gqa<kDim><<<grid, 32 * kWarps, kShared, stream>>>(a);
  BENCH_CHECK_LAUNCH();
  if (a.splits == 1) return;
  merge_parts<kDim><<<static_cast<unsigned>(rows_of(a.s)), kDim / 2, 0, stream>>>(a.values, a.lse, a.splits, a.y);
  BENCH_CHECK_LAUNCH();
}

}  // namespace

std::size_t gqa_workspace_bytes(const GqaShape& s) {
  return static_cast<std::size_t>(rows_of(s) * splits_of(s) * (s.head_dim + 1)) * sizeof(float);
}

void launch_gqa(cudaStream_t stream, const GqaShape& s, const bf16* q, const bf16* k_cache, const bf16* v_cache,
                bf16* y, void* workspace) {
  const Arguments a{s, q, k_cache, v_cache, y, nullptr, nullptr, splits_of(s), row_tiles(s), chunk_of(s.context, splits_of(s))};
  if (s.head_dim == 64) launch_dim<64>(stream, a, workspace);
  else if (s.head_dim == 128) launch_dim<128>(stream, a, workspace);
  else if (s.head_dim == 256) launch_dim<256>(stream, a, workspace);
  else throw Unsupported("attention heads of a size other than 64, 128 and 256");
}

}  // namespace moe::bench
