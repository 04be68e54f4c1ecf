// Which parameters explain the rows best? Robust least squares on ln(model/measured), with bounds.
//
// Levenberg-Marquardt (Marquardt, SIAM J. Appl. Math. 11(2), 1963) in transformed parameters z: a parameter
// between low and high is low (high/low)^s (logarithmic) or low + (high - low) s, s = 1/(1 + exp(-z)), so it
// cannot leave its bounds. Huber weights (Ann. Math. Stat. 35(1), 1964): a row off by more than `huber`
// counts linearly, not squared.
#pragma once
#include <functional>
#include <vector>

namespace moe {

struct Bound {
  double low = 0, high = 1;
  bool logarithmic = true;
};

struct Problem {
  std::vector<Bound> bounds;
  std::vector<double> ln_us;   ///< measured
  std::vector<double> weight;  ///< of the rows
  /// Fills ln(model) of every row for given parameter values.
  std::function<void(const std::vector<double>& values, std::vector<double>& ln_model)> model;
  double huber = 0.06;
};

struct Solution {
  std::vector<double> values;
  double loss = 0;  ///< mean Huber loss, in units of squared ln
};

/// Starts at `values` (moved inside the bounds). Deterministic. Tested: tests/property/fit_recovers.cpp.
Solution least_squares(const Problem& problem, std::vector<double> values, int iterations);

}  // namespace moe
