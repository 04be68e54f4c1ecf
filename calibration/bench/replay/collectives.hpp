// The collectives of a replay: NCCL, one communicator over all ranks, each rank in a thread of its own.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace moe::bench {

/// What one rank needs. Buffers hold bf16; `bytes` is the whole message as the simulator counts it: the reduced vector
/// of an all-reduce, everything gathered by an all-gather, everything scattered by a reduce-scatter.
class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual void all_reduce(cudaStream_t stream, void* data, std::size_t bytes) = 0;                         ///< in place
  virtual void all_gather(cudaStream_t stream, const void* from, void* to, std::size_t bytes) = 0;
  virtual void reduce_scatter(cudaStream_t stream, const void* from, void* to, std::size_t bytes) = 0;
};

/// An identity that all ranks of one process share.
struct CollectivesId {
  char bytes[128] = {};
};
/// Throws Unsupported when this build or machine has no NCCL.
CollectivesId new_collectives_id();
/// Called by every rank at once, on its device.
std::unique_ptr<Collectives> join_collectives(const CollectivesId& id, int rank, int ranks);

}  // namespace moe::bench
