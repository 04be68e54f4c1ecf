// All-reduce by our own kernels over peer-mapped memory, for ranks of one process.
//
//   OwnAllReduce ours(gpus, {0, 1});
//   ours.enqueue(OwnShape::one_shot, in, out, bytes, gpus.streams());   // bf16; may be captured and replayed
//
// One-shot: every rank reads all the others' buffers. Two-shot: every rank sums its slice, then reads the other slices.
// The result has the same bits on every rank: sums run in the order of the ranks, in float.
#pragma once
#include <memory>

#include "comm/gpu_group.hpp"
#include "harness/buffer.hpp"

namespace moe::bench {

enum class OwnShape { one_shot, two_shot };

class OwnAllReduce {
 public:
  /// Rank r is GPU ranks[r]. `most_bytes`: of a two-shot buffer. Throws Unsupported when two of them are not peers.
  OwnAllReduce(const GpuGroup& gpus, const std::vector<int>& ranks, std::size_t most_bytes = std::size_t{64} << 20);
  ~OwnAllReduce();
  /// in[r], out[r] and streams[r] belong to rank r; in and out must differ. bytes: of one buffer of bf16, a multiple of 16.
  /// Waits for nothing and allocates nothing. All ranks' launches are made here: a rank's kernel ends when all have come.
  void enqueue(OwnShape shape, const std::vector<const void*>& in, const std::vector<void*>& out, std::size_t bytes,
               const std::vector<cudaStream_t>& streams);

 private:
  std::vector<int> devices_;  ///< of the ranks
  std::vector<Buffer> signals_, scratch_;
};

/// Runs it on random data (several sizes, replays of a graph, changed inputs) and compares with sums made by the host.
/// Throws BenchError that says the first wrong value.
void verify_own_all_reduce(const GpuGroup& gpus, OwnAllReduce& ours, OwnShape shape);

}  // namespace moe::bench
