#include "engine/fluid.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "program/alone.hpp"

namespace moe {

/// The most flows that can be active at one time.
static std::size_t transfers(const Program& program) {
  return static_cast<std::size_t>(std::count(program.kind.begin(), program.kind.end(), Kind::transfer));
}

Links::Links(const Program& program, const Resources& resources, Sharing sharing, CapacityRule* rule,
             Timeline& timeline)
    : program_(program),
      resources_(resources),
      timeline_(timeline),
      sharing_(sharing),
      rule_(rule),
      capacity_(resources.capacity),
      crossing_(resources.capacity.size()),
      solver_(resources.capacity.size(), transfers(program)) {
  flows_.reserve(transfers(program));
  motions_.reserve(transfers(program));
  ended_.reserve(transfers(program));
}

bool Links::carries(OpId op) const {
  return sharing_ == Sharing::max_min && program_.kind[op] == Kind::transfer && !program_.path[op].empty() &&
         program_.bytes[op].count > 0;
}

void Links::begin(OpId op, Time now) {
  flows_.push_back({op, program_.path[op], alone_Bps(program_, resources_, op), program_.weight[op]});
  motions_.push_back({program_.bytes[op].count, 0, now, kNever, 0});
  for (const LinkId link : flows_.back().path) crossing_[link] += flows_.back().weight;
  if (rule_ != nullptr) rule_->begins(flows_.back());
  changed_ = true;
  ++timeline_.events;
}

void Links::share(Time now) {
  if (!changed_) return;
  changed_ = false;
  next_end_ = kNever;
  if (flows_.empty()) return;
  if (rule_ != nullptr) correct_capacities();
  const std::span<const Share> shares = solver_.solve(flows_, capacity_, crossing_);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    change_rate(flows_[i], motions_[i], shares[i], now);
    next_end_ = std::min(next_end_, motions_[i].end);
  }
  ++timeline_.solves;
}

void Links::correct_capacities() {
  capacity_ = resources_.capacity;
  rule_->correct(flows_, capacity_);
  const auto is_lower = [](Bandwidth now, Bandwidth nominal) { return now > Bandwidth{} && now <= nominal; };
  MOE_CHECK(std::equal(capacity_.begin(), capacity_.end(), resources_.capacity.begin(), is_lower),
            "a capacity rule only lowers capacities, never to zero");
}

void Links::change_rate(const ActiveFlow& flow, Motion& motion, const Share& share, Time now) {
  const bool is_slowed = share.rate_Bps < flow.limit_Bps;
  if (share.rate_Bps == motion.rate_Bps && (!is_slowed || share.bottleneck == motion.bottleneck)) return;
  move(flow, motion, now);
  motion.rate_Bps = share.rate_Bps;
  if (is_slowed) motion.bottleneck = share.bottleneck;
  const Time soonest = timeline_.start[flow.op] + timeline_.alone[flow.op];
  motion.end = std::max(soonest, now + to_time(Seconds{motion.left_bytes / motion.rate_Bps}));
}

/// Brings the flow up to `now` at its present rate:  lost = elapsed x (1 - rate / rate alone).
void Links::move(const ActiveFlow& flow, Motion& motion, Time now) {
  const Seconds elapsed = now - motion.since;
  motion.left_bytes = std::max(0.0, motion.left_bytes - motion.rate_Bps * elapsed.count());
  timeline_.lost[flow.op][motion.bottleneck] += to_time(elapsed * (1 - motion.rate_Bps / flow.limit_Bps));
  motion.since = now;
}

std::span<const OpId> Links::ended(Time now) {
  ended_.clear();
  if (next_end_ != now) return ended_;
  for (std::size_t i = flows_.size(); i-- > 0;) {
    if (motions_[i].end != now) continue;
    book_rest(flows_[i], motions_[i]);
    for (const LinkId link : flows_[i].path) crossing_[link] -= flows_[i].weight;
    if (rule_ != nullptr) rule_->ends(flows_[i]);
    ended_.push_back(flows_[i].op);
    flows_[i] = flows_.back(), flows_.pop_back();
    motions_[i] = motions_.back(), motions_.pop_back();
  }
  std::sort(ended_.begin(), ended_.end());
  changed_ = true;
  return ended_;
}

/// The last interval takes the remainder of (end - start) - alone, so that `lost` adds up to the picosecond.
/// If rounding leaves less than nothing, links of the path that have some give it back.
void Links::book_rest(const ActiveFlow& flow, const Motion& motion) {
  const std::span<Time> lost = timeline_.lost[flow.op];
  Time rest = motion.end - timeline_.start[flow.op] - timeline_.alone[flow.op];
  rest -= std::accumulate(lost.begin(), lost.end(), Time{0});
  for (std::size_t i = 0; i < lost.size() && rest != Time{0}; ++i) {
    Time& there = lost[(motion.bottleneck + i) % lost.size()];
    const Time booked = std::max(rest, -there);
    there += booked;
    rest -= booked;
  }
}

}  // namespace moe
