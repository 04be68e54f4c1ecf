// This program again, with other arguments and environment.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace moe::bench {

struct ChildEnd {
  enum How { exited, killed, timed_out } how = exited;
  int code = 0;  ///< exit code, or signal
  std::string text() const;
};

/// Waits for its end; kills it after `most_seconds`. Its output goes where ours goes. NVLink multicast stays off
/// (NCCL_NVLS_ENABLE=0): it needs rights on the fabric that a measurement should not ask for. Throws BenchError when it
/// cannot be started.
ChildEnd run_child(const std::vector<std::string>& arguments,
                   const std::vector<std::pair<std::string, std::string>>& environment, double most_seconds);

}  // namespace moe::bench
