// One warp's part of the W4A16 grouped GEMM: bf16 activations, int4 weights with one bf16 scale per 32 along k.
//
// Weights are the 16-row operand of mma.sync, tokens the 8-column one: an expert of decode meets few tokens, so few
// products are wasted on tokens that are not there, and a weight is unpacked once however many tokens meet it. What a warp
// reads of w nobody else needs, so weights and scales go from memory straight to registers, some stages of 64 k ahead.
#pragma once
#include "kernels/fragments.cuh"

namespace moe::bench::w4a16 {

constexpr int kTokens = 8;                    // of one mma
constexpr int kSumStride = kWarpColumns + 4;  // floats of a row of sums; lanes of a store meet different banks

/// 64 k of 32 columns: what a lane needs.
struct Weights {
  uint4 values[2], scales;
};

/// Read once: past L1.
__device__ inline uint4 load_once(const char* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

/// Hands out a lane's weights: k blocks [begin, end) of 32 columns; kTurns: then of the next 32, and so on.
template <bool kTurns>
class WeightSource {
 public:
  __device__ WeightSource(const char* columns, int k, int begin, int end, int lane)
      : values_(columns + lane * 16), scales_(columns + static_cast<long>(k / 32) * kUnit + lane / 4 * 16),
        column_step_(static_cast<long>(column_bytes<Format::int4>(k))), b_(begin), begin_(begin), end_(end) {}
  __device__ void load(Weights& to) {
    to.values[0] = load_once(values_ + static_cast<long>(b_) * 2 * kUnit);
    to.values[1] = load_once(values_ + static_cast<long>(b_) * 2 * kUnit + kUnit);
    to.scales = load_once(scales_ + static_cast<long>(b_) * 2 * kScaleUnit);
    ++b_;
    if (!kTurns || b_ < end_) return;
    b_ = begin_;
    values_ += column_step_;
    scales_ += column_step_;
  }

 private:
  const char *values_, *scales_;
  long column_step_;
  int b_, begin_, end_;
};

/// A lane's share of 32 k of 8 NT tokens.
template <int NT>
struct Activations {
  uint4 x[NT];
};
template <int NT>
struct ActivationSource {
  const char* row[NT];  ///< this lane's first bytes of its token; null: no such token
  __device__ Activations<NT> load(int block, int half) const {
    Activations<NT> a;
#pragma unroll
    for (int t = 0; t < NT; ++t) {
      a.x[t] = {0, 0, 0, 0};
      if (row[t] != nullptr) a.x[t] = __ldg(reinterpret_cast<const uint4*>(row[t] + block * 2 * kStageK + half * kStageK));
    }
    return a;
  }
};

__device__ inline __nv_bfloat162 pair_of(std::uint32_t word) { return *reinterpret_cast<const __nv_bfloat162*>(&word); }
__device__ inline std::uint32_t word_of(__nv_bfloat162 pair) { return *reinterpret_cast<const std::uint32_t*>(&pair); }

/// Nibbles 0 and 4 of a word, less 8, as a pair of bf16: 128 + nibble is exact, and so is the difference to 136.
__device__ inline std::uint32_t unpacked(std::uint32_t word) {
  return word_of(__hsub2(pair_of((word & 0x000f000fu) | 0x43004300u), pair_of(0x43084308u)));
}

/// acc[m][t]: columns 16m.. of tokens 8t.. += 32 k. Columns g and g+8 of a lane have scales of their own.
///   one piece of 8 tokens: the sum over 32 k counts with its scale (4 instructions);
///   more: weights are scaled (8 instructions), then the sums need none.
template <int NT>
__device__ inline void multiply(float (&acc)[2][NT][4], const uint4& values, std::uint32_t scales01, std::uint32_t scales23, const Activations<NT>& a) {
  const std::uint32_t words[4] = {values.x, values.y, values.z, values.w}, scales[2] = {scales01, scales23};
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    const std::uint32_t low = words[2 * m], high = words[2 * m + 1];
    std::uint32_t w[8] = {unpacked(low),      unpacked(high),      unpacked(low >> 4),  unpacked(high >> 4),
                          unpacked(low >> 8), unpacked(high >> 8), unpacked(low >> 12), unpacked(high >> 12)};
    if constexpr (NT == 1) {
      constexpr float kZero[4] = {0, 0, 0, 0};
      const uint4 x = a.x[0];
      float c[4];
      mma_bf16_from(c, kZero, w[0], w[1], w[2], w[3], x.x, x.y);
      mma_bf16(c, w[4], w[5], w[6], w[7], x.z, x.w);
      const float first = __uint_as_float(scales[m] << 16), second = __uint_as_float(scales[m] & 0xffff0000u);
      acc[m][0][0] += first * c[0];
      acc[m][0][1] += first * c[1];
      acc[m][0][2] += second * c[2];
      acc[m][0][3] += second * c[3];
    } else {
      const std::uint32_t first = __byte_perm(scales[m], 0, 0x1010), second = __byte_perm(scales[m], 0, 0x3232);
#pragma unroll
      for (int i = 0; i < 8; ++i) w[i] = word_of(__hmul2(pair_of(w[i]), pair_of(i % 2 == 0 ? first : second)));
#pragma unroll
      for (int t = 0; t < NT; ++t) {
        mma_bf16(acc[m][t], w[0], w[1], w[2], w[3], a.x[t].x, a.x[t].y);
        mma_bf16(acc[m][t], w[4], w[5], w[6], w[7], a.x[t].z, a.x[t].w);
      }
    }
  }
}

/// Sums of this warp to shared memory: [token][kSumStride].
template <int NT>
__device__ inline void put(const float (&acc)[2][NT][4], float* sums, int lane) {
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int t = 0; t < NT; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[(kTokens * t + 2 * (lane % 4) + i % 2) * kSumStride + 16 * m + 8 * (i / 2) + lane / 4] = acc[m][t][i];
}

}  // namespace moe::bench::w4a16
