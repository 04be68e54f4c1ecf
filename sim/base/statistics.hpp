// Figures of a list of numbers. Pure.
#pragma once
#include <algorithm>
#include <vector>

namespace moe {

/// The middle value, or the mean of the two middle ones; 0 of an empty list.
inline double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const std::size_t half = v.size() / 2;
  return v.size() % 2 == 1 ? v[half] : (v[half - 1] + v[half]) / 2;
}

}  // namespace moe
