#include "program/alone.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace moe {

namespace {

/// Longer than any step; keeps clock arithmetic far away from overflow.
constexpr Seconds kLongest{86400};

}  // namespace

void check_machine(const Program& program, const Resources& resources) {
  for (std::size_t i = 0; i < resources.capacity.size(); ++i) {
    const double capacity_Bps = resources.capacity[LinkId(i)].bytes_per_second;
    if (std::isfinite(capacity_Bps) && capacity_Bps > 0) continue;
    throw InternalError(fmt::format("internal error: link {} has a capacity of {} B/s", i, capacity_Bps));
  }
  const auto reject = [&](OpId op, std::string_view what, std::size_t number) {
    throw InternalError(fmt::format("internal error: {} uses {} {}, which the machine does not have",
                                    describe(program, op), what, number));
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto op = OpId(i);
    const ServerId server = program.server[op];
    const bool computes = program.kind[op] == Kind::compute;
    if (computes && index(server) >= resources.server_names.size()) reject(op, "server", index(server));
    for (const LinkId link : program.path[op]) {
      if (index(link) >= resources.capacity.size()) reject(op, "link", index(link));
    }
  }
}

double alone_Bps(const Program& program, const Resources& resources, OpId op) {
  const double cap_Bps = program.rate_cap[op].bytes_per_second;
  double rate_Bps = cap_Bps > 0 ? cap_Bps : std::numeric_limits<double>::infinity();
  for (const LinkId link : program.path[op]) {
    rate_Bps = std::min(rate_Bps, resources.capacity[link].bytes_per_second);
  }
  return rate_Bps;
}

Time alone_time(const Program& program, const Resources& resources, OpId op) {
  if (program.kind[op] == Kind::compute) return program.duration[op];
  if (program.path[op].empty()) return program.latency[op];
  const Seconds moving = program.bytes[op] / Bandwidth{alone_Bps(program, resources, op)};
  MOE_CHECK(moving < kLongest, "a transfer takes less than a day");
  return program.latency[op] + to_time(moving);
}

}  // namespace moe
