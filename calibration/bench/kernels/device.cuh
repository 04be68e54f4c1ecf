// Device building blocks: 16-byte accesses, reductions, cp.async, ldmatrix and mma.sync. PTX ISA names in comments.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "kernels/types.hpp"

namespace moe::bench {

constexpr unsigned kAllLanes = 0xffffffffu;

/// Eight bf16 in 16 bytes.
struct alignas(16) Eight {
  uint4 words;
  __device__ float2 pair(int i) const {
    const std::uint32_t w = i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
    return {__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u)};
  }
};

__device__ inline std::uint32_t pack_bf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ inline void load8(const bf16* p, float* out) {
  const Eight e{*reinterpret_cast<const uint4*>(p)};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 v = e.pair(i);
    out[2 * i] = v.x;
    out[2 * i + 1] = v.y;
  }
}
__device__ inline void store8(bf16* p, const float* v) {
  *reinterpret_cast<uint4*>(p) = {pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]), pack_bf16(v[4], v[5]),
                                  pack_bf16(v[6], v[7])};
}
/// Two e4m3 from two floats (saturating), first in the low byte.
__device__ inline std::uint32_t pack_e4m3(float low, float high) {
  return __nv_cvt_float2_to_fp8x2({low, high}, __NV_SATFINITE, __NV_E4M3);
}
__device__ inline void store8_e4m3(fp8_bits* p, const float* v) {
  *reinterpret_cast<uint2*>(p) = {pack_e4m3(v[0], v[1]) | pack_e4m3(v[2], v[3]) << 16,
                                  pack_e4m3(v[4], v[5]) | pack_e4m3(v[6], v[7]) << 16};
}

template <class Combine>
__device__ inline float warp_reduce(float v, Combine combine) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v = combine(v, __shfl_xor_sync(kAllLanes, v, d));
  return v;
}
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
/// Over a block of whole warps; every thread gets the result. scratch: 33 floats of shared memory.
template <class Combine>
__device__ inline float block_reduce(float v, float* scratch, Combine combine, float neutral) {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  v = warp_reduce(v, combine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[warp] = v;
  __syncthreads();
  if (warp == 0) {
    const int lane = static_cast<int>(threadIdx.x);
    const float all = warp_reduce(lane < warps ? scratch[lane] : neutral, combine);
    if (lane == 0) scratch[32] = all;
  }
  __syncthreads();
  return scratch[32];
}

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
/// cp.async 16 bytes, past L1; zeros when !valid.
__device__ inline void copy16(std::uint32_t to, const void* from, bool valid = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0));
}
__device__ inline void copy8(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// All but the last `n` groups have arrived (for this thread).
template <int n>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
__device__ inline uint4 shared_load16(std::uint32_t from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
  return v;
}
__device__ inline uint2 shared_load8(std::uint32_t from) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(from) : "memory");
  return v;
}
__device__ inline uint4 ldmatrix(std::uint32_t from) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
  return v;
}
__device__ inline uint4 ldmatrix_transposed(std::uint32_t from) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
  return v;
}

/// c += a b: 16x16 by 16x8, bf16, fp32 sums. Lane (g = lane / 4, q = lane % 4) holds
///   a: rows g, g+8 (words 0, 1 at k 2q, 2q+1; words 2, 3 at k+8);  b: column g, k 2q, 2q+1 and k+8;
///   c: row g columns 2q, 2q+1; row g+8 the same.
__device__ inline void mma_bf16(float* c, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
/// d = c + a b.
__device__ inline void mma_bf16_from(float* d, const float* c, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                     std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
/// 16x32 by 32x8, e4m3; as above with four values per word (k 4q.. and +16).
__device__ inline void mma_e4m3(float* c, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

}  // namespace moe::bench
