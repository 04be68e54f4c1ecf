// Random values by a counter: value i of a buffer depends on the seed and i alone.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "harness/buffer.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014).
__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Sum of four uniform numbers: near enough to normal, deviation 1.
__device__ float normal(std::uint64_t bits) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<float>((bits >> (16 * i)) & 0xffff) * (1.0f / 65536);
  return (sum - 2.0f) * 1.7320508f;
}

__global__ void fill_words(std::uint32_t* out, std::size_t words, Fill kind, std::uint64_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step) {
    const std::uint64_t a = mixed(seed * 0x100000001b3ULL + 2 * i), b = mixed(a);
    std::uint32_t word = static_cast<std::uint32_t>(a);
    if (kind == Fill::normal_bf16 || kind == Fill::small_bf16) {
      const float scale = kind == Fill::small_bf16 ? 0.0625f : 1.0f;
      const __nv_bfloat162 pair = __floats2bfloat162_rn(scale * normal(a), scale * normal(b));
      word = *reinterpret_cast<const std::uint32_t*>(&pair);
    } else if (kind == Fill::scale_bf16) {
      const float u = static_cast<float>(a & 0xffff) / 65536, v = static_cast<float>(b & 0xffff) / 65536;
      const __nv_bfloat162 pair = __floats2bfloat162_rn((0.5f + u) / 64, (0.5f + v) / 64);
      word = *reinterpret_cast<const std::uint32_t*>(&pair);
    } else if (kind == Fill::normal_f32) {
      word = __float_as_uint(normal(a));
    } else if (kind == Fill::scale_f32) {
      word = __float_as_uint(0.5f + static_cast<float>(a & 0xffffff) / 16777216);
    } else if (kind == Fill::normal_e4m3) {
      word = 0;
      for (int j = 0; j < 4; ++j) {
        const __nv_fp8_e4m3 v(normal(mixed(a + static_cast<std::uint64_t>(j))));
        word |= static_cast<std::uint32_t>(v.__x) << (8 * j);
      }
    } else if (kind == Fill::nibbles) {
      word &= 0x0f0f0f0fu;
    } else if (kind == Fill::zero) {
      word = 0;
    }
    out[i] = word;
  }
}

}  // namespace

void fill(cudaStream_t stream, void* data, std::size_t bytes, Fill kind, std::uint64_t seed) {
  if (kind == Fill::none || bytes < 4) return;
  fill_words<<<2048, 256, 0, stream>>>(static_cast<std::uint32_t*>(data), bytes / 4, kind, seed);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench
