// What do all kernels of the suite share? Number formats and how their launches behave.
//
// Every launch function only puts kernels on the given stream: it allocates nothing, waits for nothing and can be
// captured into a CUDA graph. Scratch memory is passed in; `*_workspace_bytes` says how much. Scratch must be zero
// before its first use where the function says so. All pointers are device pointers, 16-byte aligned. Activations
// are bf16, row-major, rows contiguous. Launch errors throw BenchError (harness/check.hpp).
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace moe::bench {

using bf16 = __nv_bfloat16;
using fp8_bits = std::uint8_t;  ///< e4m3

/// Of weights. int4: symmetric, value - 8, one bf16 scale per 32 along k, activations stay bf16.
enum class Format { bf16, fp8, int4, nvfp4 };

/// As the `dtype` column of the measurement files: bfloat16, fp8, int4_wo, nvfp4.
const char* dtype_name(Format format);

/// Facts of the device that launches are shaped by; read once per device.
struct DeviceFacts {
  int sm = 0;                 ///< multiprocessors
  int major = 0, minor = 0;   ///< compute capability
  std::size_t shared_bytes = 0;  ///< most dynamic shared memory of one block
  std::size_t l2_bytes = 0;
};
/// Of the current device.
const DeviceFacts& device_facts();

}  // namespace moe::bench
