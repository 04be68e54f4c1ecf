// When does everything happen, and why? Plays a program on servers and shared links into a timeline.
//
// Example: two 1 MB transfers over one 1 GB/s link, both ready at 0, 1 us latency: the link is shared from 1
// us on, both end at 1 us + 2 MB / 1 GB/s = 2001 us, and both lost 1000 us of it on that link:
//
//   Timeline t = run(program, resources, Sharing::max_min);
//   t.makespan == from_us(2001);  t.alone[a] == from_us(1001);  t.lost[a][0] == from_us(1000);
//
// The engine knows ops, servers, links and time; it does not know what an expert or a GPU is. An op is ready
// when its predecessors have ended. A compute op then waits in line for its server (first ready, first
// served); a transfer takes its latency, then its bytes share the links of its path; a join ends at once.
#pragma once
#include "base/check.hpp"
#include "engine/event_queue.hpp"
#include "engine/fluid.hpp"
#include "engine/servers.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// The program has come to rest with ops left; what() names the first of them and what each still waits for.
struct Stuck : InternalError {
  using InternalError::InternalError;
};

/// Plays the whole program. `rule` (may be null) corrects link capacities for the active flows.
Timeline run(const Program& program, const Resources& resources, Sharing sharing,
             CapacityRule* rule = nullptr);

/// What run() uses, one step at a time. Allocates when built, never afterwards.
class Engine {
 public:
  /// Throws InternalError if the program uses a server or link that `resources` does not have.
  Engine(const Program& program, const Resources& resources, Sharing sharing, CapacityRule* rule = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  bool has_work() const { return !events_.empty() || links_.busy(); }
  Time now() const { return now_; }
  /// Moves the clock to the next instant at which something happens, and lets it happen.
  void advance();
  /// What happened; to be called once, at the end. Throws Stuck.
  Timeline timeline();

 private:
  void become_ready(OpId op, OpId cause, Wait wait);
  void start(OpId op);
  void finish(OpId op);
  void call_next(OpId op);

  const Program& program_;
  Timeline timeline_;
  Links links_;
  Servers servers_;
  EventQueue events_;
  Table<OpId, std::uint32_t> waits_for_;  ///< predecessors that have not ended
  Time now_{0};
  std::size_t ended_ = 0;
};

}  // namespace moe
