// The step as a Chrome trace for Perfetto: one process per GPU with one thread per stream, the links as counters, and
// the critical path as a track of its own. Only what Perfetto's JSON importer reads is written.
#pragma once
#include <ostream>
#include <string>

#include "program/program.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// Facts for the head of the trace.
struct TraceHead {
  std::string experiment;
  std::string inputs;  ///< hash over all input files
  std::string version;
};

/// Writes a complete trace of one step. Times in microseconds with three decimals; exact picoseconds are in args.
void write_trace(std::ostream& out, const Program& program, const Resources& resources, const Timeline& timeline,
                 const TraceHead& head);

}  // namespace moe
