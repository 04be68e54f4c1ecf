// Measures a list of points into a file: skips what is there already, writes down why a point has no time.
#pragma once
#include <string>
#include <vector>

#include "harness/check.hpp"
#include "harness/session.hpp"

namespace moe::bench {

template <class Point, class KeyOf, class Time>
void measure_points(Session& session, const std::string& section, Results& results, const std::vector<Point>& points,
                    const KeyOf& key_of, const Time& time) {
  session.begin(section, points.size());
  for (const Point& p : points) {
    const Key key = key_of(p);
    if (!results.has(key)) {
      try {
        results.add(key, time(p));
      } catch (const Unsupported& e) {
        results.skip(key, e.what());
      }
    }
    session.tick();
  }
  session.end();
}

inline std::string text(long v) { return std::to_string(v); }

/// Every `stride`-th of a list: --quick.
template <class Point>
std::vector<Point> thinned(const std::vector<Point>& all, bool quick, std::size_t stride = 10) {
  if (!quick) return all;
  std::vector<Point> some;
  for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
  return some;
}

inline constexpr double kLeastColdBytes = 3e5;  ///< less cannot be made cold by 600 copies
inline const char* const kEngine = "suite-1";

}  // namespace moe::bench
