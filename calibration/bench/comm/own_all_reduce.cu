#include "comm/own_all_reduce.hpp"

#include <algorithm>
#include <string>

#include "comm/own_kernels.cuh"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// Blocks of one launch: one vector per thread, no more than vLLM's custom all-reduce uses (36), which leaves most
/// multiprocessors to what runs beside it.
int blocks_for(std::size_t vectors) {
  constexpr std::size_t kMost = 36;
  static_assert(kMost <= kMostBlocks);
  return static_cast<int>(std::clamp<std::size_t>((vectors + kThreads - 1) / kThreads, 1, kMost));
}

}  // namespace

OwnAllReduce::OwnAllReduce(const GpuGroup& gpus, const std::vector<int>& ranks, std::size_t most_bytes) {
  if (ranks.size() > kMostRanks) throw Unsupported("our all-reduce takes at most " + std::to_string(kMostRanks) + " GPUs");
  for (const int a : ranks)
    for (const int b : ranks)
      if (!gpus.peers(a, b))
        throw Unsupported("GPU " + std::to_string(a) + " cannot read the memory of GPU " + std::to_string(b));
  for (const int gpu : ranks) {
    const OnDevice here(gpus.device(gpu));
    devices_.push_back(gpus.device(gpu));
    signals_.emplace_back(sizeof(Signal), Fill::zero);
    scratch_.emplace_back(most_bytes / ranks.size() + sizeof(uint4));
    cudaFuncAttributes unused{};  // load now: a first launch must not wait for work that waits for it
    BENCH_CHECK(cudaFuncGetAttributes(&unused, one_shot_kernel<__nv_bfloat16>));
    BENCH_CHECK(cudaFuncGetAttributes(&unused, two_shot_kernel<__nv_bfloat16>));
  }
}

OwnAllReduce::~OwnAllReduce() = default;

void OwnAllReduce::enqueue(OwnShape shape, const std::vector<const void*>& in, const std::vector<void*>& out,
                           std::size_t bytes, const std::vector<cudaStream_t>& streams) {
  const std::size_t n = devices_.size(), vectors = bytes / sizeof(uint4), slice = (vectors + n - 1) / n;
  if (bytes % sizeof(uint4) != 0) throw BenchError("all-reduce of " + std::to_string(bytes) + " bytes: not a multiple of 16");
  if (shape == OwnShape::two_shot && slice * sizeof(uint4) > scratch_[0].bytes())
    throw Unsupported("two-shot all-reduce of " + std::to_string(bytes) + " bytes: more than was set aside");
  Peers peers{};
  for (std::size_t r = 0; r < n; ++r) {
    peers.in[r] = static_cast<const uint4*>(in[r]);
    peers.scratch[r] = scratch_[r].as<uint4>();
    peers.signal[r] = signals_[r].as<Signal>();
  }
  peers.ranks = static_cast<int>(n);
  for (std::size_t r = 0; r < n; ++r) {
    const OnDevice here(devices_[r]);
    peers.rank = static_cast<int>(r);
    auto* result = static_cast<uint4*>(out[r]);
    if (shape == OwnShape::one_shot)
      one_shot_kernel<__nv_bfloat16><<<blocks_for(vectors), kThreads, 0, streams[r]>>>(peers, result, vectors);
    else
      two_shot_kernel<__nv_bfloat16><<<blocks_for(slice), kThreads, 0, streams[r]>>>(peers, result, vectors);
    BENCH_CHECK_LAUNCH();
  }
}

}  // namespace moe::bench
