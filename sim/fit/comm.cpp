#include "fit/comm.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "cost/algorithms.hpp"
#include "cost/all_to_all.hpp"

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

/// A fitted constant: its generic starting value, and the places that it sets.
struct Constant {
  double start = 1;
  std::vector<std::function<double&(CommCost&)>> places;
};

TransportCost generic(const std::string& name) {
  TransportCost t;
  const bool bounced = name.starts_with("shm"), nvlink = name.starts_with("nvlink");
  t.start_us = 0;
  t.adds_route_latency = !bounced && !nvlink;
  t.alpha_ll_us = bounced ? 1.5 : 0.5;
  t.tau_ll_us = bounced ? 1.0 : 0.5;
  t.tau1_ll_us = 0.4;
  t.alpha_simple_us = bounced ? 4 : 2.5;
  t.rate_simple_GBps = nvlink ? 300 : bounced ? 28 : 45;
  return t;
}

CommCost generic_cost(const std::vector<Case>& cases, double wire_GBps) {
  CommCost c;
  c.t_base_us = 5, c.tail_ll = 1, c.tail_simple = 0.4, c.b_simple_us = 7;
  c.wire_GBps = wire_GBps, c.ll128_rate_GBps = 0.72 * wire_GBps;
  c.a2a_base_us = 5, c.a2a_peer_us = 0.5, c.a2a_first = 0.6, c.a2a_tau = 1, c.a2a_simple_us = 2;
  for (const Case& k : cases) {
    for (const Transport t : k.comm.hops)
      c.transport.emplace(std::string(name_of(t)), generic(std::string(name_of(t))));
    if (k.op != CollectiveOp::all_to_all) continue;
    c.a2a_rate_GBps.emplace(k.comm.ranks(), 20);
    c.a2a_threads.emplace(k.comm.ranks(), 256);
  }
  return c;
}

/// Constants of a transport. In a ring of mixed transports only hop latency and rate tell them apart: what counts per
/// pass or per step is shared by shm and shm_x, p2p and p2p_x.
void add_transports(const CommCost& cost, std::vector<Constant>& all) {
  const auto place = [](const std::string& name, double TransportCost::*value) {
    return std::function<double&(CommCost&)>([name, value](CommCost& c) -> double& { return c.transport.at(name).*value; });
  };
  for (const auto& [name, t] : cost.transport) {
    // A direct PCIe hop is measured by itself (GPU-resident ping-pong: 0.48 us of both ends, 0.02 us of software).
    if (!t.adds_route_latency) all.push_back({t.alpha_ll_us, {place(name, &TransportCost::alpha_ll_us)}});
    all.push_back({t.rate_simple_GBps, {place(name, &TransportCost::rate_simple_GBps)}});
    if (name.ends_with("_x") && cost.transport.count(name.substr(0, name.size() - 2)) != 0) continue;
    const bool crosses_too = cost.transport.count(name + "_x") != 0;
    for (const auto value : {&TransportCost::tau_ll_us, &TransportCost::tau1_ll_us, &TransportCost::alpha_simple_us}) {
      Constant c{t.*value, {place(name, value)}};
      if (crosses_too) c.places.push_back(place(name + "_x", value));
      all.push_back(c);
    }
  }
}

std::vector<Constant> constants_of(const CommCost& cost) {
  std::vector<Constant> all;
  const auto plain = [&](double CommCost::*value) {
    all.push_back({cost.*value, {[value](CommCost& c) -> double& { return c.*value; }}});
  };
  for (const auto value : {&CommCost::t_base_us, &CommCost::tail_ll, &CommCost::tail_simple, &CommCost::b_simple_us})
    plain(value);
  add_transports(cost, all);
  if (cost.a2a_rate_GBps.empty()) return all;
  for (const auto value : {&CommCost::a2a_base_us, &CommCost::a2a_peer_us, &CommCost::a2a_first, &CommCost::a2a_tau,
                           &CommCost::a2a_simple_us})
    plain(value);
  for (const auto& entry : cost.a2a_rate_GBps) {
    const int ranks = entry.first;
    all.push_back({entry.second, {[ranks](CommCost& c) -> double& { return c.a2a_rate_GBps.at(ranks); }}});
  }
  return all;
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

/// Whether a started pass counts whole, and the least threads of a block.
std::vector<CommCost> pass_forms(const CommCost& start) {
  std::vector<CommCost> forms;
  for (const bool whole : {false, true})
    for (const int threads : {64, 96}) {
      forms.push_back(start);
      forms.back().ll_whole_pass = whole, forms.back().ll_min_threads = threads;
    }
  return forms;
}

/// Every combination of threads per all-to-all peer.
std::vector<CommCost> thread_forms(const CommCost& start) {
  std::vector<CommCost> forms{start};
  for (const auto& entry : start.a2a_threads) {
    std::vector<CommCost> more;
    for (const CommCost& form : forms)
      for (const double threads : {64, 128, 256, 512}) {
        more.push_back(form);
        more.back().a2a_threads[entry.first] = threads;
      }
    forms = more;
  }
  return forms;
}

double wire_of(const std::vector<Case>& cases) {
  constexpr double kPcie = 53, kNvlink = 450;
  const bool nvlink = !cases.empty() && is_nvlink(worst_hop(cases.front().comm));
  return nvlink ? kNvlink : kPcie;
}

}  // namespace

CommCost fit_comm(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups) {
  const std::vector<Case> cases = cases_of(rows, setups);
  CommCost start = generic_cost(cases, wire_of(cases));
  choose(cases, start, pass_forms(start));
  if (!start.a2a_threads.empty()) choose(cases, start, thread_forms(start));
  Fitter final{cases, start, constants_of(start)};
  final.fit();
  std::set<int> counts;
  for (const Case& c : cases) {
    auto& bytes = final.cost.quality.range.try_emplace("bytes", c.bytes, c.bytes).first->second;
    bytes = {std::min(bytes.first, c.bytes), std::max(bytes.second, c.bytes)};
    counts.insert(c.comm.ranks());
  }
  if (!counts.empty()) final.cost.quality.range["ranks"] = {*counts.begin(), *counts.rbegin()};
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
