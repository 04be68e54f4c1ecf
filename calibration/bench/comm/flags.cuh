// Flags by which GPUs wait for each other. A flag only grows, so it never needs clearing and a captured graph can be
// launched again and again.
#pragma once
#include <cstdint>
#include <cuda/atomic>

namespace moe::bench {

using Flag = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;

/// Polls before a kernel gives up. A poll takes 0.1 to 2 us: a rank that never comes is an error after seconds to a
/// minute or two, not a hang.
constexpr std::uint32_t kMostPolls = 1u << 26;

/// Waits until the flag has come to `wanted`; what was written before it was set is then seen.
__device__ inline void wait_for(std::uint32_t* flag, std::uint32_t wanted) {
  std::uint32_t polls = 0;
  while (static_cast<std::int32_t>(Flag(*flag).load(cuda::memory_order_acquire) - wanted) < 0)
    if (++polls == kMostPolls) __trap();
}

}  // namespace moe::bench
