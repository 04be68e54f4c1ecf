// What did NCCL find and choose? It says so in XML files when it creates a communicator.
#pragma once
#include <string>

namespace moe::bench {

/// The next communicator writes its graphs to `graph` and the topology to `topology` (empty: not).
void dump_nccl_to(const std::string& graph, const std::string& topology);

struct NcclGraph {
  int channels = 0;   ///< 0: the file is not there or says nothing of a ring
  double GBps = 0;    ///< bus bandwidth that NCCL's tuner expects of the ring
};
/// The ring of a graph dump. NCCL runs twice as many channels as its search found (connectRings in src/graph/connect.cc
/// doubles them), and expects channels found x speed of each (src/graph/tuning.cc).
NcclGraph read_nccl_graph(const std::string& file);

}  // namespace moe::bench
