// What happened, and why? One row per op of the program; nothing else is stored.
#pragma once
#include "base/table.hpp"
#include "base/time.hpp"
#include "program/program.hpp"

namespace moe {

/// Why an op started when it did: its last predecessor ended then (dependency), or its server became free
/// then (queue), or it had nothing to wait for (start).
enum class Wait : std::uint8_t { start, dependency, queue };

/// All fields are *computed* by the engine.
struct Timeline {
  Table<OpId, Time> ready;   ///< all predecessors have ended
  Table<OpId, Time> start;   ///< >= ready
  Table<OpId, Time> end;
  Table<OpId, Time> alone;   ///< the duration it would have had if nobody shared a link
  Table<OpId, OpId> cause;   ///< the op whose end let this one start; kNoOp at the start of the step
  Table<OpId, Wait> wait;
  Rows<OpId, Time> lost;     ///< per link of the op's path: time lost to sharing there; sums to (end-start)-alone
  Time makespan{0};
  std::uint64_t events = 0;  ///< handled by the engine
  std::uint64_t solves = 0;  ///< times the shared links were solved
};

}  // namespace moe
