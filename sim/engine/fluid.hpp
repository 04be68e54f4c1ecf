// How far are the bytes? Flows move over shared links at max-min fair rates that change only when a flow
// comes or goes; the time a flow loses to the others is booked on the link that holds it back.
//
// Example: a link carries 10 B/s; flow a (100 B) begins at 0 s, flow b (25 B) at 5 s. a runs at 10 B/s until
// b comes (50 B left), both run at 5 B/s until b ends at 10 s (a has 25 B left), then a runs at 10 B/s and
// ends at 12.5 s. Alone a would need 10 s and b 2.5 s, so lost on the link: a 2.5 s, b 2.5 s.
//
// Rates are double, ends are clock time: an end is computed when a rate changes and then holds, so a flow
// that nobody slows down ends exactly when it would have ended alone.
#pragma once
#include <span>
#include <vector>

#include "engine/capacity_rule.hpp"
#include "engine/max_min.hpp"
#include "program/program.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// alone: nobody ever shares a link. max_min: flows that cross a link at one time share it.
enum class Sharing : std::uint8_t { alone, max_min };

class Links {
 public:
  /// Writes `lost`, `events`, `solves` of `timeline`, reads `start` and `alone`; all references must outlive
  /// it.
  Links(const Program& program, const Resources& resources, Sharing sharing, CapacityRule* rule,
        Timeline& timeline);

  /// True: the op's bytes go through begin() and ended(). False: the op just takes its time alone.
  bool carries(OpId op) const;

  /// The latency of `op` is over: its bytes move from `now` on, as soon as share() has given it a rate.
  void begin(OpId op, Time now);
  /// Gives every flow its rate, if a flow has come or gone since the last call.
  void share(Time now);
  /// When the next flow ends; kNever if none is active.
  Time next_end() const { return next_end_; }
  bool busy() const { return !flows_.empty(); }
  /// Takes out the flows that end now, in id order; valid until the next call.
  std::span<const OpId> ended(Time now);

 private:
  struct Motion {
    double left_bytes;  ///< at `since`
    double rate_Bps;    ///< from `since` on
    Time since;
    Time end;
    std::uint32_t bottleneck;  ///< position in the path of the link that held it back last
  };
  void correct_capacities();
  void change_rate(const ActiveFlow& flow, Motion& motion, const Share& share, Time now);
  void move(const ActiveFlow& flow, Motion& motion, Time now);
  void book_rest(const ActiveFlow& flow, const Motion& motion);

  const Program& program_;
  const Resources& resources_;
  Timeline& timeline_;
  const Sharing sharing_;
  CapacityRule* const rule_;           ///< may be null
  Table<LinkId, Bandwidth> capacity_;  ///< nominal, corrected for the active flows
  Table<LinkId, std::uint32_t> crossing_;  ///< weight of the active flows on each link
  MaxMin solver_;
  std::vector<ActiveFlow> flows_;
  std::vector<Motion> motions_;  ///< one per flow
  std::vector<OpId> ended_;
  Time next_end_ = kNever;
  bool changed_ = false;  ///< a flow came or went since the last solve
};

}  // namespace moe
