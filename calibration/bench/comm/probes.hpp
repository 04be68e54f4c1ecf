// Small kernels that ask the links between GPUs: how long does a load take, a flag, how fast do all multiprocessors copy?
#pragma once
#include <cstddef>

#include "comm/gpu_group.hpp"

namespace moe::bench {

/// Nanoseconds for one dependent load from `chain`, which lives on another GPU or in host memory. `hops` loads; on the
/// current device. Prepares the chain itself (`bytes` of it).
double load_latency_ns(cudaStream_t stream, void* chain, std::size_t bytes, int hops);

/// Nanoseconds for a flag written by one GPU to be seen by another one that polls its own memory: half a round trip.
/// `flags[g]`: 256 zeroed bytes on GPU `a` and `b`. Needs peer access both ways.
double ping_ns(const GpuGroup& gpus, int a, int b, void* flag_a, void* flag_b, int rounds);

/// Copies 16-byte vectors with all multiprocessors of the current device: a store when `to` is remote, a load when
/// `from` is. bytes: a multiple of 16.
void copy_by_sm(cudaStream_t stream, const void* from, void* to, std::size_t bytes);

}  // namespace moe::bench
