// Plain weights to the order of fragments.cuh. One thread writes one lane's 16 bytes.
#include "harness/buffer.hpp"
#include "harness/check.hpp"
#include "kernels/fragments.cuh"
#include "kernels/grouped_gemm.hpp"
#include "kernels/pack.hpp"

namespace moe::bench {
namespace {

/// bf16 (kK = 32) and fp8 (kK = 64): 16 contiguous bytes move.
template <int kK>
__global__ void pack_units(const char* __restrict__ from, char* __restrict__ to, int k, long pieces) {
  constexpr int kElement = 64 / kK;  // bytes
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces; i += step) {
    const int lane = static_cast<int>(i % 32);
    const long unit = i / 32, block = unit % (k / kK), row = unit / (k / kK) * 8 + lane / 4;  // row of all experts
    const long at = (row * k + block * kK) * kElement + lane % 4 * 16;
    reinterpret_cast<uint4*>(to)[i] = *reinterpret_cast<const uint4*>(from + at);
  }
}

__global__ void pack_int4(const std::uint8_t* __restrict__ values, const bf16* __restrict__ scales,
                          char* __restrict__ to, int k, long pieces) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  const long group_bytes = static_cast<long>(column_bytes<Format::int4>(k));
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces; i += step) {
    const int lane = static_cast<int>(i % 32), g = lane / 4, q = lane % 4;
    const long unit = i / 32, block = unit % (k / 32), group = unit / (k / 32);
    char* base = to + group * group_bytes;
    std::uint32_t words[4] = {};
    for (int j = 0; j < 4; ++j) {
      const std::uint8_t* v = values + (group * 32 + 8 * j + g) * k + block * 32 + 8 * q;
      for (int p = 0; p < 4; ++p) words[j] |= static_cast<std::uint32_t>(v[2 * p]) << (4 * p) | static_cast<std::uint32_t>(v[2 * p + 1]) << (4 * (4 + p));
    }
    *reinterpret_cast<uint4*>(base + block * kUnit + lane * 16) = {words[0], words[1], words[2], words[3]};
    // Scales of 64 k: what the lanes of one g want lies together.
    bf16* s = reinterpret_cast<bf16*>(base + static_cast<long>(k / 32) * kUnit + block / 2 * (2 * kScaleUnit) + g * 16) + block % 2 * 4;
    s[q] = scales[(group * 32 + 8 * q + g) * (k / 32) + block];
  }
}

/// Scales of every 32 columns: (0.5 to 1.5) / 64.
__global__ void fill_scales(char* packed, int k, long scales) {
  const long per_group = static_cast<long>(k / 32) * 32, step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < scales; i += step) {
    bf16* at = reinterpret_cast<bf16*>(packed + i / per_group * static_cast<long>(column_bytes<Format::int4>(k)) + static_cast<long>(k / 32) * kUnit);
    const auto noise = static_cast<std::uint32_t>(i * 2654435761u) >> 16;
    at[i % per_group] = __float2bfloat16((0.5f + static_cast<float>(noise & 0xff) / 256) / 64);
  }
}

}  // namespace

void fill_packed(cudaStream_t stream, Format format, int experts, int n, int k, std::uint64_t seed, void* packed) {
  const std::size_t bytes = static_cast<std::size_t>(experts) * packed_bytes(format, n, k);
  fill(stream, packed, bytes, format == Format::bf16 ? Fill::small_bf16 : format == Format::fp8 ? Fill::normal_e4m3 : Fill::bits, seed);
  if (format != Format::int4) return;
  fill_scales<<<8 * device_facts().sm, 256, 0, stream>>>(static_cast<char*>(packed), k, static_cast<long>(experts) * n * (k / 32));
  BENCH_CHECK_LAUNCH();
}

void launch_pack(cudaStream_t stream, Format format, const void* source, const bf16* scales, int experts, int n, int k,
                 void* packed) {
  const int blocks = 8 * device_facts().sm;
  const long values = static_cast<long>(experts) * n * k;
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(packed);
  if (format == Format::bf16) pack_units<32><<<blocks, 256, 0, stream>>>(from, to, k, values / 8);
  else if (format == Format::fp8) pack_units<64><<<blocks, 256, 0, stream>>>(from, to, k, values / 16);
  else if (format == Format::int4)
    pack_int4<<<blocks, 256, 0, stream>>>(static_cast<const std::uint8_t*>(source), scales, to, k, values / 32);
  else throw Unsupported("nvfp4 weights are not packed");
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
