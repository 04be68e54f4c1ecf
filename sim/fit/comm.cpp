#include "fit/comm.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "cost/algorithms.hpp"
#include "cost/all_to_all.hpp"
#include "cost/ring.hpp"
#include "fit/comm_constants.hpp"

namespace moe {
namespace {

/// A row with everything that does not depend on the constants.
struct Case {
  double bytes = 0, latency_us = 0;
  CollectiveOp op = CollectiveOp::all_reduce;
  Protocol protocol = Protocol::ll;
  Communicator comm;
};

const CommSetup* setup_of(const CommRow& row, const std::vector<CommSetup>& setups) {
  const auto found =
      std::find_if(setups.begin(), setups.end(), [&](const CommSetup& s) { return s.covers(row); });
  return found == setups.end() ? nullptr : &*found;
}

std::vector<Case> cases_of(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups) {
  std::map<std::pair<const CommSetup*, int>, Communicator> comms;
  std::vector<Case> cases;
  for (const CommRow& r : rows) {
    const CommSetup* setup = setup_of(r, setups);
    if (setup == nullptr) continue;
    auto found = comms.find({setup, r.gpus});
    if (found == comms.end()) {
      std::vector<int> gpus(static_cast<std::size_t>(r.gpus));
      std::iota(gpus.begin(), gpus.end(), 0);
      found = comms.emplace(std::pair{setup, r.gpus}, communicator(setup->machine, Routes(setup->machine), gpus)).first;
    }
    Case c{r.bytes, r.latency_us, r.op, Protocol::ll, found->second};
    CollectivePolicy policy;
    policy.protocols = setup->protocols;
    if (r.op != CollectiveOp::all_to_all) c.protocol = ring_protocol(policy, c.comm, r.op, r.bytes);
    cases.push_back(std::move(c));
  }
  return cases;
}

double predicted_us(const CommCost& cost, const Case& c) {
  return c.op == CollectiveOp::all_to_all ? all_to_all_us(cost, c.comm, c.bytes)
                                          : ring_us(c.protocol, cost, c.comm, c.op, c.bytes);
}

constexpr double kOutlier = 0.05, kPull = 0.1;

double huber(double r) {
  const double size = std::abs(r);
  return size <= kOutlier ? size * size / 2 : kOutlier * (size - kOutlier / 2);
}

struct Fitter {
  const std::vector<Case>& cases;
  CommCost cost;
  std::vector<Constant> constants;

  void set(const Eigen::VectorXd& logs) {
    for (std::size_t i = 0; i < constants.size(); ++i)
      for (const auto& place : constants[i].places)
        place(cost) = constants[i].start * std::exp(logs[static_cast<Eigen::Index>(i)]);
  }
  Eigen::VectorXd residuals(const Eigen::VectorXd& logs) {
    set(logs);
    Eigen::VectorXd r(static_cast<Eigen::Index>(cases.size()));
    for (std::size_t i = 0; i < cases.size(); ++i)
      r[static_cast<Eigen::Index>(i)] = std::log(predicted_us(cost, cases[i]) / cases[i].latency_us);
    return r;
  }
  double loss(const Eigen::VectorXd& logs) {
    const Eigen::VectorXd r = residuals(logs);
    return std::accumulate(r.begin(), r.end(), 0.5 * kPull * kPull * logs.squaredNorm(),
                           [](double sum, double x) { return sum + huber(x); });
  }
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& logs, const Eigen::VectorXd& at) {
    constexpr double kStep = 1e-5;
    Eigen::MatrixXd j(at.size(), logs.size());
    for (Eigen::Index k = 0; k < logs.size(); ++k) {
      Eigen::VectorXd moved = logs;
      moved[k] += kStep;
      j.col(k) = (residuals(moved) - at) / kStep;
    }
    return j;
  }
  double fit();
};

/// Levenberg-Marquardt; returns the loss that is left.
double Fitter::fit() {
  constexpr int kSteps = 60;
  Eigen::VectorXd logs = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(constants.size()));
  double left = loss(logs), damping = 1e-2;
  for (int step = 0; step < kSteps && damping < 1e8; ++step) {
    const Eigen::VectorXd r = residuals(logs);
    const Eigen::MatrixXd j = jacobian(logs, r);
    const Eigen::VectorXd weight = r.unaryExpr([](double x) { return std::min(1.0, kOutlier / std::max(std::abs(x), 1e-12)); });
    Eigen::MatrixXd normal = j.transpose() * weight.asDiagonal() * j;
    const Eigen::VectorXd gradient = j.transpose() * weight.cwiseProduct(r) + kPull * kPull * logs;
    normal.diagonal().array() += kPull * kPull;
    bool better = false;
    for (; !better && damping < 1e8; damping *= better ? 0.3 : 4) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd next = logs - damped.ldlt().solve(gradient);
      const double after = next.allFinite() && next.cwiseAbs().maxCoeff() < 8 ? loss(next) : left;
      better = after < left * (1 - 1e-9);
      if (better) logs = next, left = after;
    }
  }
  set(logs);
  return left;
}

/// Tries every one of `forms` and keeps the best.
void choose(const std::vector<Case>& cases, CommCost& start, const std::vector<CommCost>& forms) {
  double best = std::numeric_limits<double>::infinity();
  for (const CommCost& form : forms) {
    Fitter f{cases, form, constants_of(form)};
    if (const double left = f.fit(); left < best) best = left, start = form;
  }
}

CommCost start_of(const std::vector<Case>& cases) {
  std::set<Transport> transports;
  AllToAllRows all_to_all;
  for (const Case& c : cases) {
    transports.insert(c.comm.hops.begin(), c.comm.hops.end());
    if (c.op == CollectiveOp::all_to_all) all_to_all[worst_hop(c.comm)].insert(c.comm.ranks());
  }
  return generic_cost(transports, all_to_all);
}

void note_ranges(const std::vector<Case>& cases, FitQuality& quality) {
  for (const Case& c : cases)
    for (const auto& [size, value] : {std::pair{"bytes", c.bytes}, {"ranks", static_cast<double>(c.comm.ranks())}}) {
      auto& ends = quality.range.try_emplace(size, value, value).first->second;
      ends = {std::min(ends.first, value), std::max(ends.second, value)};
    }
}

}  // namespace

CommCost fit_comm(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups) {
  std::vector<CommRow> first, added;
  for (const CommRow& r : rows)
    if (const CommSetup* setup = setup_of(r, setups); setup != nullptr) (setup->adds ? added : first).push_back(r);
  const std::vector<Case> cases = cases_of(first, setups), all = cases_of(rows, setups);
  CommCost start = start_of(cases);
  choose(cases, start, pass_forms(start));
  for (std::size_t set = 0; set < start.all_to_all.size(); ++set) choose(cases, start, thread_forms(start, set));
  Fitter final{cases, start, constants_of(start)};
  final.fit();
  if (!added.empty()) {
    std::vector<Constant> more;
    const CommCost wide = widened(final.cost, start_of(all), more);
    const std::vector<Case> others = cases_of(added, setups);
    Fitter wider{others, wide, more};
    wider.fit();
    final.cost = wider.cost;
  }
  note_ranges(all, final.cost.quality);
  return final.cost;
}

std::vector<CommError> evaluate_comm(const CommCost& cost, const std::vector<CommRow>& rows,
                                     const std::vector<CommSetup>& setups) {
  std::vector<CommError> errors;
  for (const CommRow& r : rows) {
    if (setup_of(r, setups) == nullptr) continue;
    errors.push_back({r, predicted_us(cost, cases_of({r}, setups).front())});
  }
  return errors;
}

}  // namespace moe
