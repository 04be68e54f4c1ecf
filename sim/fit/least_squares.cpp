#include "fit/least_squares.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace moe {
namespace {

constexpr double kEdge = 4.5;  ///< |z| at most: 1 % from a bound

double value_of(const Bound& b, double z) {
  const double s = 1 / (1 + std::exp(-z));
  return b.logarithmic ? b.low * std::pow(b.high / b.low, s) : b.low + (b.high - b.low) * s;
}

double z_of(const Bound& b, double value) {
  const double s = b.logarithmic ? std::log(std::max(value, 1e-30) / b.low) / std::log(b.high / b.low)
                                 : (value - b.low) / (b.high - b.low);
  const double inside = std::clamp(s, 1e-6, 1 - 1e-6);
  return std::clamp(std::log(inside / (1 - inside)), -kEdge, kEdge);
}

std::vector<double> values_of(const Problem& p, const Eigen::VectorXd& z) {
  std::vector<double> values(p.bounds.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = value_of(p.bounds[i], z[static_cast<Eigen::Index>(i)]);
  return values;
}

/// Residuals ln(model/measured) and their loss.
struct State {
  std::vector<double> residual;
  double loss = 0;
};

State evaluate_at(const Problem& p, const Eigen::VectorXd& z) {
  State s;
  s.residual.resize(p.ln_us.size());
  p.model(values_of(p, z), s.residual);
  double weights = 0;
  for (std::size_t i = 0; i < s.residual.size(); ++i) {
    s.residual[i] -= p.ln_us[i];
    const double r = std::abs(s.residual[i]);
    s.loss += p.weight[i] * (r <= p.huber ? r * r : p.huber * (2 * r - p.huber));
    weights += p.weight[i];
  }
  s.loss = weights > 0 && std::isfinite(s.loss) ? s.loss / weights : 1e9;
  return s;
}

/// J'WJ and J'Wr by forward differences, W = row weight x Huber weight.
void normal_equations(const Problem& p, const Eigen::VectorXd& z, const State& s, Eigen::MatrixXd& jj,
                      Eigen::VectorXd& jr) {
  constexpr double kStep = 1e-4;
  const auto n = static_cast<Eigen::Index>(s.residual.size());
  Eigen::MatrixXd j(n, z.size());
  Eigen::VectorXd w(n), r(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    r[i] = s.residual[at];
    w[i] = p.weight[at] * std::min(1.0, p.huber / std::max(std::abs(r[i]), 1e-12));
  }
  std::vector<double> moved(s.residual.size());
  for (Eigen::Index c = 0; c < z.size(); ++c) {
    Eigen::VectorXd beside = z;
    beside[c] += kStep;
    p.model(values_of(p, beside), moved);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      j(i, c) = (moved[at] - p.ln_us[at] - r[i]) / kStep;
    }
  }
  const Eigen::MatrixXd wj = w.asDiagonal() * j;
  jj = j.transpose() * wj;
  jr = wj.transpose() * r;
}

}  // namespace

Solution least_squares(const Problem& p, std::vector<double> values, int iterations) {
  Eigen::VectorXd z(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    z[static_cast<Eigen::Index>(i)] = z_of(p.bounds[i], values[i]);
  State now = evaluate_at(p, z);
  double damping = 1e-2;
  for (int i = 0; i < iterations; ++i) {
    Eigen::MatrixXd jj;
    Eigen::VectorXd jr;
    normal_equations(p, z, now, jj, jr);
    bool better = false;
    for (int tries = 0; tries < 4 && !better; ++tries) {
      Eigen::MatrixXd a = jj;
      for (Eigen::Index d = 0; d < z.size(); ++d) a(d, d) += damping * (jj(d, d) + 1e-6 * jj.trace() + 1e-12);
      Eigen::VectorXd step = -a.ldlt().solve(jr);
      step = step.cwiseMax(-1.5).cwiseMin(1.5);
      const Eigen::VectorXd next = (z + step).cwiseMax(-kEdge).cwiseMin(kEdge);
      State then = evaluate_at(p, next);
      better = then.loss < now.loss;
      damping = better ? damping * 0.3 : damping * 6;
      if (!better) continue;
      const bool converged = now.loss - then.loss < 1e-4 * now.loss;
      z = next;
      now = std::move(then);
      if (converged) return {values_of(p, z), now.loss};
    }
    if (!better) break;
  }
  return {values_of(p, z), now.loss};
}

}  // namespace moe
