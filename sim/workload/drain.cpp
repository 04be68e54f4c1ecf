#include "workload/drain.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace moe {
namespace {

constexpr int kDraws = 101;  // odd: the median is one of them

struct Sequence {
  double left = 0, ease = 0;
};

std::vector<Sequence> draw(const DrainInput& in, Random& random) {
  std::vector<Sequence> out;
  const double length = in.length(static_cast<int>(in.remaining.size()));
  for (const double tokens : in.remaining) {
    const double ease = in.spread > 0 ? in.spread * random.normal() : 0;
    const double blur = in.variance > 0 ? std::sqrt(tokens * in.variance / length) * random.normal() : 0;
    out.push_back({std::max(1.0, tokens + blur), ease});
  }
  return out;
}

Drain play(const DrainInput& in, std::vector<Sequence> running) {
  Drain d;
  const std::size_t half = running.size() / 2;
  double sequence_seconds = 0;
  while (!running.empty()) {
    const int n = static_cast<int>(running.size());
    const double length = in.length(n), most = in.most(n);
    const auto pace = [&](const Sequence& s) { return std::clamp(length + s.ease, 1.0, most); };
    double steps = running[0].left / pace(running[0]);
    for (const Sequence& s : running) steps = std::min(steps, s.left / pace(s));
    for (Sequence& s : running) s.left -= steps * pace(s);
    constexpr double kDone = 1e-6;  // tokens; rounding
    running.erase(std::remove_if(running.begin(), running.end(), [](const Sequence& s) { return s.left < kDone; }), running.end());
    const double seconds = steps * in.step_ms(n) * 1e-3;
    d.seconds += seconds;
    sequence_seconds += n * seconds;
    if (static_cast<std::size_t>(n) > half) d.half_seconds = d.seconds;  // the round in which half are done is the last one
  }
  d.mean_batch = d.seconds > 0 ? sequence_seconds / d.seconds : 0;
  return d;
}

}  // namespace

Drain drain(const DrainInput& in) {
  Random random(in.seed);
  const int draws = in.spread > 0 || in.variance > 0 ? kDraws : 1;
  std::vector<Drain> all;
  for (int i = 0; i < draws; ++i) all.push_back(play(in, draw(in, random)));
  std::sort(all.begin(), all.end(), [](const Drain& a, const Drain& b) { return a.seconds < b.seconds; });
  Drain out = all[all.size() / 2];
  out.low = all[all.size() / 20].seconds;
  out.high = all[all.size() - 1 - all.size() / 20].seconds;
  return out;
}

}  // namespace moe
