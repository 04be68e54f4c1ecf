// How busy was everything? Sums per server and per link over the whole step.
//
// Example: one 1 MB transfer over a 1 GB/s link in a step of 4 ms: the link carried 1 MB, was busy 1 ms = 25
// % of the step, and cost nothing because the transfer never shared it. A link can be busy for a small part
// of the step and still cost the most: what counts is whether flows that the step waits for shared it.
#pragma once
#include "program/program.hpp"
#include "timeline/timeline.hpp"

namespace moe {

struct Usage {
  Table<ServerId, Time> server_busy;  ///< time with an op on it
  Table<LinkId, Bytes> link_bytes;    ///< carried
  Table<LinkId, Time> link_busy;      ///< time with at least one flow on it (latency is not on the link)
  Table<LinkId, Time> link_cost;      ///< time lost to sharing there, on the critical path
};
Usage usage(const Program& program, const Resources& resources, const Timeline& timeline);

}  // namespace moe
