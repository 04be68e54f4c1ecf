// Who may use a server now? One op at a time; the others wait in the order in which they became ready.
//
// Example: take(gpu0, a) is true: a runs. take(gpu0, b) is false: b waits. release(gpu0) returns b, which now
// runs; the next release(gpu0) returns kNoOp: the server is idle.
// The lines are lists threaded through one array (an op waits for one server): nothing is allocated later.
#pragma once
#include "base/table.hpp"
#include "program/program.hpp"

namespace moe {

class Servers {
 public:
  Servers(std::size_t servers, std::size_t ops) : lines_(servers), behind_(ops, kNoOp) {}

  /// True: the server was idle and is now held by `op`. False: `op` waits at the end of the line.
  bool take(ServerId server, OpId op) {
    Line& line = lines_[server];
    if (!line.busy) return line.busy = true;
    (line.first == kNoOp ? line.first : behind_[line.last]) = op;
    line.last = op;
    return false;
  }

  /// The holder has ended. Returns the op that holds the server from now on, or kNoOp.
  OpId release(ServerId server) {
    Line& line = lines_[server];
    const OpId next = line.first;
    line.busy = next != kNoOp;
    if (line.busy) line.first = behind_[next];
    return next;
  }

 private:
  struct Line {
    OpId first = kNoOp, last = kNoOp;  ///< the waiting ops; `last` means nothing while nobody waits
    bool busy = false;
  };
  Table<ServerId, Line> lines_;
  Table<OpId, OpId> behind_;  ///< the op that waits right behind this one
};

}  // namespace moe
