// Verbs that read what a user's own run left behind: a profiler trace, a benchmark's output, a server's log.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace moe {

struct ImportTraceArguments {
  std::vector<std::string> files;  ///< one rank, or all ranks of one run; the first is shown
  std::string rules;               ///< kernel rules; "": calibration/mappings/kernels.yaml
  std::string step_begin, against,
      out;                        ///< pattern of a step's first kernel; experiment beside it; folder for rows
  std::string engine = "traced";  ///< first part of the paths of the rows
  int skip = -1, rows = 12;       ///< steps left out at the beginning (-1: automatic); kernels listed
  bool json = false, csv = false;
};
int import_trace_command(const ImportTraceArguments& arguments, const Streams& streams);

struct ImportBenchArguments {
  std::vector<std::string> files;
  std::map<std::string, std::string> columns;  ///< what the user says of the run, by column
  std::vector<std::string> set;                ///< column=value, any column
  std::string out;
  bool mean = false, anyway = false, json = false;
};
int import_bench_command(const ImportBenchArguments& arguments, const Streams& streams);

}  // namespace moe
