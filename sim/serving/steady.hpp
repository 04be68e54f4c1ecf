// Which lines of a server's log show steady decode?
//
// An engine reports every few seconds what it generated since its last report. Such a window is a decode
// step's throughput only when nothing else happened in it: no prompt was computed, and the same number of
// requests was running at both ends. Prompts that are computed in chunks do not show in the prompt throughput
// until they are done; the KV cache, which then grows faster than tokens are generated, gives them away.
#pragma once
#include <string>
#include <vector>

#include "serving/row.hpp"

namespace moe {

struct LogWindow {
  int line = 0;
  double time_s = -1;  ///< -1: the line has no time
  int running = 0;
  double tokens_per_s = 0;
  double prompt_per_s = -1;     ///< -1: the line does not say
  double kv_tokens = -1;        ///< cached, all sequences; -1: not known
  double expected_tokens = -1;  ///< that the cache should grow by since the last line; -1: not known
  double accept_len = 0;        ///< 0: not said
  double prefix_hits =
      0;  ///< share of prompt tokens found in the cache so far; requests may share what it holds
  bool prompt_before = false;  ///< a prompt was computed since the last line
};

struct SteadyRules {
  double longest_gap_s = 15;    ///< between lines; a longer one: lines are missing
  double kv_resolution = 0;     ///< tokens that the reported cache may be off by
  double running_apart = 0.10;  ///< the number of running requests may change by this share within a window
  bool anyway = false;          ///< also reports that none precedes, with quality C
};

/// Rows of the steady windows, metric output_tok_s_total: one for each number of running requests and context
/// (within 20 % or 2048 tokens), mean over its windows. Where the number changed a little within a window,
/// its mean counts. A sentence about what was left out goes to `out` as a warning, and an error when nothing
/// is steady.
std::vector<BenchRow> steady_rows(const std::vector<LogWindow>& windows, const SteadyRules& rules,
                                  const std::string& file, Diagnostics& out);

}  // namespace moe
