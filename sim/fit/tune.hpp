// How are the constants of one kind of path searched? Knobs (a constant and its bounds) for least_squares,
// and the rows that a search looks at. Internal to sim/fit.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/hash.hpp"
#include "fit/least_squares.hpp"
#include "fit/samples.hpp"

namespace moe {

template <class Path>
struct Knob {
  std::function<double&(Path&)> of;
  Bound bound;
};

using Rows = std::vector<const Sample*>;

/// A decode step reads cold data, so rows that came from DRAM count fully, rows from L2 by half.
inline double row_weight(const Sample& s) { return s.cold ? 1.0 : 0.5; }

/// At most `limit` rows, in the order of a fixed hash: the same rows for the same file.
inline Rows pick(const Rows& rows, std::size_t limit) {
  Rows order = rows;
  const auto key = [](const Sample* s) {
    return fnv1a(static_cast<std::uint64_t>(s->point) << 8 | s->series, kFnvOffset);
  };
  std::sort(order.begin(), order.end(), [&](const Sample* x, const Sample* y) {
    const auto a = key(x), b = key(y);
    return a != b ? a < b : std::pair(x->series, x->point) < std::pair(y->series, y->point);
  });
  if (order.size() > limit) order.resize(limit);
  return order;
}

/// Four significant digits: what the profile file will hold.
inline double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

/// Moves the knobs of `path` to the best place found; returns the loss.
template <class Path>
double tune(const GpuSpec& gpu, Path& path, const std::vector<Knob<Path>>& knobs, const Rows& rows,
            int iterations) {
  if (rows.empty()) return 0;
  Problem problem;
  std::vector<double> start;
  for (const Knob<Path>& k : knobs) {
    problem.bounds.push_back(k.bound);
    start.push_back(k.of(path));
  }
  for (const Sample* s : rows) {
    problem.ln_us.push_back(std::log(s->us));
    problem.weight.push_back(row_weight(*s));
  }
  Path trial = path;
  problem.model = [&](const std::vector<double>& values, std::vector<double>& ln_model) {
    for (std::size_t i = 0; i < knobs.size(); ++i) knobs[i].of(trial) = values[i];
    for (std::size_t i = 0; i < rows.size(); ++i)
      ln_model[i] = std::log(cost_of(gpu, trial, *rows[i]).time_us);
  };
  const Solution found = least_squares(problem, start, iterations);
  for (std::size_t i = 0; i < knobs.size(); ++i) knobs[i].of(path) = found.values[i];
  return found.loss;
}

/// Keeps the better of two candidates.
template <class Path>
struct Best {
  Path path;
  double loss = 1e30;
  void offer(const Path& candidate, double its_loss) {
    if (its_loss >= loss) return;
    path = candidate;
    loss = its_loss;
  }
};

}  // namespace moe
