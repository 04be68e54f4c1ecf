// What did the profiler see? The events of a PyTorch/Kineto trace that a breakdown of a decode step needs.
//
// Times are nanoseconds on the trace's own clock; Kineto writes microseconds with three decimals.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

/// Texts that occur often, each kept once.
class Names {
 public:
  std::uint32_t id(const std::string& text) {
    const auto [at, fresh] = ids_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return at->second;
  }
  const std::string& operator[](std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

/// One kernel, copy or fill on the GPU.
struct GpuEvent {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t name = 0;  ///< into KinetoTrace::names
  std::int32_t device = 0, stream = 0;
  std::int64_t op = -1;  ///< External id: the operator that launched it; -1: none, as in a graph replay
  std::int64_t correlation = -1;  ///< the runtime call that launched it; a graph's kernels share one
  std::int32_t collective = -1;   ///< into KinetoTrace::collectives; -1: the trace does not describe one
  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

/// What the trace says of a collective of torch.distributed.
struct CollectiveFacts {
  std::string op, dtype, group;  ///< "allreduce", "BFloat16", name of the process group
  std::int64_t elements = 0;     ///< per rank
  int ranks = 0;
  friend bool operator==(const CollectiveFacts&, const CollectiveFacts&) = default;
};

/// An operator on the host.
struct HostOp {
  std::uint32_t name = 0;
  std::uint32_t dims = 0,
                types = 0;  ///< "Input Dims" and "Input type" as written, into names; 0: not recorded
};

/// A named span: record_function on the host.
struct Annotation {
  std::uint32_t name = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct HostLaunch {
  std::int64_t time_ns = 0;
  bool graph = false;  ///< cudaGraphLaunch, hipGraphLaunch
};

struct KinetoTrace {
  std::string file, device;      ///< device: name of the GPU, "" when the trace does not say
  int rank = -1, world = 0;      ///< -1, 0: the trace does not say
  Names names;                   ///< id 0 is ""
  std::vector<GpuEvent> events;  ///< by start; of one device
  std::vector<CollectiveFacts> collectives;
  std::unordered_map<std::int64_t, HostOp> ops;           ///< by External id
  std::unordered_map<std::int64_t, HostLaunch> launches;  ///< by correlation
  std::vector<Annotation> annotations;                    ///< host side, by start
};

/// Reads a trace, plain or gzip. A missing, empty, cut or damaged file and a trace without GPU events are
/// errors.
KinetoTrace read_kineto(const std::string& file, Diagnostics& out);

}  // namespace moe
