// How long does an op take on this machine if nobody shares a link with it?
//
//   compute    duration
//   transfer   latency + bytes / rate;   rate = the narrowest link of the path, or the flow's own cap
//   join       nothing
//
// Example: 1 MB over links of 50 and 25 GB/s after 1.5 us of latency: 1.5 us + 1 MB / 25 GB/s = 41.5 us.
#pragma once
#include "program/program.hpp"

namespace moe {

/// Throws InternalError that names the op, or the link, unless the machine has every server and link that the
/// program uses and every link carries something.
void check_machine(const Program& program, const Resources& resources);

/// The rate of a transfer with a path [B/s].
double alone_Bps(const Program& program, const Resources& resources, OpId op);

/// A transfer with an empty path takes its latency.
Time alone_time(const Program& program, const Resources& resources, OpId op);

}  // namespace moe
