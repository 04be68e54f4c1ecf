#include <map>
#include <mutex>

#include "harness/check.hpp"
#include "kernels/types.hpp"

namespace moe::bench {

const char* dtype_name(Format format) {
  switch (format) {
    case Format::bf16: return "bfloat16";
    case Format::fp8: return "fp8";
    case Format::int4: return "int4_wo";
    case Format::nvfp4: return "nvfp4";
  }
  return "?";
}

const DeviceFacts& device_facts() {
  static std::map<int, DeviceFacts> known;
  static std::mutex lock;
  int device = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  const std::lock_guard guard(lock);
  if (const auto found = known.find(device); found != known.end()) return found->second;
  cudaDeviceProp p{};
  BENCH_CHECK(cudaGetDeviceProperties(&p, device));
  return known
      .emplace(device, DeviceFacts{p.multiProcessorCount, p.major, p.minor, p.sharedMemPerBlockOptin,
                                   static_cast<std::size_t>(p.l2CacheSize)})
      .first->second;
}

}  // namespace moe::bench
