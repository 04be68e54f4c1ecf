// The parts of `moe-calibrate box`. Each runs in a process of its own: NCCL reads its settings once per process, and a
// fault or a hang in one part does not take the others with it.
#pragma once
#include <string>
#include <vector>

#include "harness/session.hpp"

namespace moe::bench {

struct Part {
  std::string name;   ///< p2p, flows, own, nccl-default, ...
  std::string what;   ///< for --help
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> files;  ///< that it alone writes
  std::string path;   ///< or: end of the path of its rows in the files that parts share
  bool with_one_gpu = false;  ///< there is something to learn: the way to the host, NCCL's view of the machine
};
const std::vector<Part>& parts();

/// Rows of these columns; files are continued, `box` has removed what shall be measured again.
Results continued(const Session& session, const std::string& name, const Key& columns);

void measure_p2p(Session& session);        ///< p2p.csv: bandwidth and latency of every pair and of the host
void measure_flows(Session& session);      ///< flows.csv, flow_patterns.csv: transfers at the same time
void measure_own(Session& session);        ///< collective.csv: our all-reduces, verified first
void measure_nccl(Session& session, const std::string& setting);  ///< collective.csv, communicators.csv

/// Group sizes that are measured: powers of two, and all GPUs.
std::vector<int> group_sizes();
/// 1 KiB to 64 MiB at the powers of two and, with `between`, at 5/4, 3/2 and 7/4 of each; rounded to 16 bytes per rank.
/// `quick`: every second power of two.
std::vector<std::size_t> message_sizes(int ranks, std::size_t most_bytes, bool between, bool quick);

}  // namespace moe::bench
