// How much does a link carry when these flows are active? Real switches carry less than nominal under some
// patterns (head-of-line blocking, both directions busy); a rule says what max-min sharing has to share.
//
// Example: a link carries 3 % less while its opposite direction is busy too:
//
//   struct Duplex : CapacityRule {
//     void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) override {
//       for (LinkId link : links_of(flows)) {
//         if (crosses(flows, opposite[link])) capacity[link] = capacity[link] * 0.971;
//       }
//     }
//   };
#pragma once
#include <cstdint>
#include <span>

#include "base/table.hpp"
#include "program/program.hpp"

namespace moe {

/// A transfer whose bytes are moving now.
struct ActiveFlow {
  OpId op;
  std::span<const LinkId> path;
  double limit_Bps;  ///< its rate if nobody shared: the narrowest link of the path, or its own cap
  std::uint32_t weight = 1;  ///< its parts of a full link
};

class CapacityRule {
 public:
  virtual ~CapacityRule() = default;

  /// A flow has become active, or is no longer. For rules that count what comes and goes instead of looking through all
  /// flows at every solve; the flow's `op` and `path` are the same both times.
  virtual void begins(const ActiveFlow&) {}
  virtual void ends(const ActiveFlow&) {}

  /// Called once per solve. `capacity` holds what every link carries nominally; lower those that the flows
  /// cross, not to zero. The answer depends on the active flows only, not on their order or on those before
  /// them. An object may keep counts and scratch memory, so give each engine its own.
  virtual void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) = 0;
};

}  // namespace moe
