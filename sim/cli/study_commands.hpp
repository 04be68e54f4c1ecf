// The verbs that answer many questions at once: sweep, merge, search, plot, report; and those for living with the program.
#pragma once
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace moe {

struct SweepArguments {
  std::string experiment;
  std::vector<std::string> axes, set;
  std::string db, csv, json_file, shard;
  bool json = false;    ///< JSON on stdout instead of the table
  bool resume = false;
  int threads = 0;
};
int sweep_command(const SweepArguments& arguments, const Streams& streams);

struct MergeArguments {
  std::string into;
  std::vector<std::string> from;
  std::string csv, json_file;
};
int merge_command(const MergeArguments& arguments, const Streams& streams);

}  // namespace moe
