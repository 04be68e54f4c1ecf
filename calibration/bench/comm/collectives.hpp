// Collectives among GPUs of one process, by NCCL or by our own kernels. What the replay and the measurements call.
//
//   GpuGroup gpus(4);
//   Collectives pair(gpus, {2, 3});                              // ranks 0 and 1 of a group of two
//   GroupGraph step(gpus, [&] {
//     pair.enqueue(By::nccl, Collective::all_reduce, {x2, x3}, {y2, y3}, bytes, {gpus.stream(2), gpus.stream(3)});
//   });
//   step.launch();
//
// bytes has the meaning of nccl-tests: all_reduce the buffer; all_gather the total received; reduce_scatter the total
// sent; all_to_all the buffer of one rank. Reductions are sums of bf16. In and out must differ.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "comm/gpu_group.hpp"
#include "comm/own_all_reduce.hpp"

namespace moe::bench {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all };
const char* name_of(Collective op);
enum class By { nccl, one_shot, two_shot };

/// "2.28.9"; empty when the program was built without NCCL.
std::string nccl_version();

class Collectives {
 public:
  /// Rank r is GPU ranks[r]. NCCL reads its environment (NCCL_P2P_DISABLE ...) once per process, here.
  Collectives(const GpuGroup& gpus, const std::vector<int>& ranks);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;
  int size() const;
  /// Empty when `by` can be used; otherwise why not: no NCCL, no peer access.
  const std::string& why_not(By by) const;

  /// Puts the collective on every rank's stream; may be captured by one graph per GPU (GroupGraph). in[r], out[r] and
  /// streams[r] belong to rank r. bytes must be a multiple of 16 x ranks. Throws Unsupported for what `by` cannot do
  /// (our kernels only all-reduce). The first call of each kind must be outside capture: NCCL connects then.
  void enqueue(By by, Collective op, const std::vector<const void*>& in, const std::vector<void*>& out, std::size_t bytes,
               const std::vector<cudaStream_t>& streams);
  /// Uneven all-to-all by NCCL: bytes[from][to], packed by peer in in[from] and out[to] in the order of the ranks.
  void exchange(const std::vector<std::vector<std::size_t>>& bytes, const std::vector<const void*>& in,
                const std::vector<void*>& out, const std::vector<cudaStream_t>& streams);

 private:
  struct Nccl;
  std::unique_ptr<Nccl> nccl_;
  std::unique_ptr<OwnAllReduce> own_;
  std::string no_nccl_, no_own_;
  int size_ = 0;
};

}  // namespace moe::bench
