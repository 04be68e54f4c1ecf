// What did nccl-tests measure? Rows for collective.csv from the output of *_perf.
//
//   # Collective test starting: all_reduce_perf
//   #  Rank  0 Group  0 Pid 21159 on host1 device 0 ...          -> how many GPUs
//       8388608   2097152   float   sum   -1   473.75 ...         -> all_reduce,float,2,8388608,473.75
//
// Prompts, indents, `[1,0]<stdout>:` tags and NCCL's own messages around the rows are passed over.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

struct MeasuredCollective {
  std::string op, dtype;
  int gpus = 0;
  double bytes = 0, latency_us = 0;  ///< out of place
};

/// `gpus`: ranks where the output does not say, or says less than it ran (0: not given).
std::vector<MeasuredCollective> read_nccl_tests(const std::string& text, const std::string& file, int gpus,
                                                Diagnostics& out);

/// "path,op,dtype,gpus,bytes,latency_us" and the rows.
std::string collective_csv(const std::vector<MeasuredCollective>& rows, const std::string& path);

}  // namespace moe
