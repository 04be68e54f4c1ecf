#include "fit/flow_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fit/csv.hpp"
#include "network/flows.hpp"

namespace moe {
namespace {

constexpr double kFlowBytes = 256e6;

double last_flow_GBps(const std::vector<double>& ends_us) {
  return kFlowBytes * static_cast<double>(ends_us.size()) / (*std::max_element(ends_us.begin(), ends_us.end()) * 1e3);
}

double per_sender_GBps(const std::vector<FlowPair>& pairs, const std::vector<double>& ends_us) {
  std::map<int, std::pair<double, double>> senders;  // bytes, time of the last flow
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto& [bytes, last_us] = senders[pairs[i].from];
    bytes += kFlowBytes;
    last_us = std::max(last_us, ends_us[i]);
  }
  double sum = 0;
  for (const auto& [gpu, sent] : senders) sum += sent.first / (sent.second * 1e3);
  return sum;
}

/// Lowest point of `loss` between `low` and `high`: a coarse walk, then golden section around its best point.
double lowest(double low, double high, const std::function<double(double)>& loss) {
  constexpr int kSteps = 8, kRefinements = 12;
  constexpr double kGolden = 0.6180339887498949;
  double best = low, best_loss = loss(low);
  const double step = (high - low) / kSteps;
  for (int i = 1; i <= kSteps; ++i)
    if (const double l = loss(low + i * step); l < best_loss) best = low + i * step, best_loss = l;
  double a = std::max(low, best - step), b = std::min(high, best + step);
  for (int i = 0; i < kRefinements; ++i) {
    const double x = b - kGolden * (b - a), y = a + kGolden * (b - a);
    if (loss(x) <= loss(y)) b = y;
    else a = x;
  }
  const double middle = (a + b) / 2;
  return loss(middle) < best_loss ? middle : best;
}

/// Square within what the same test varies by on one machine, straight beyond: outliers do not rule the fit.
double huber(double off) {
  constexpr double kNoise = 0.05;
  const double size = std::abs(off);
  return size <= kNoise ? size * size / 2 : kNoise * (size - kNoise / 2);
}

struct Knob {
  double* value;
  double low, high;
};

std::vector<Knob> knobs_of(FlowFactors& f) {
  return {{&f.pcie.uplink_blocking, 0, 1},   {&f.pcie.second_stage, 0.5, 1}, {&f.pcie.collapse_GBps, 1, 40},
          {&f.pcie.read_fan_out, 0.1, 1},    {&f.pcie.read_fan_out_uplink, 0.1, 1},
          {&f.p2pmark, 0.7, 1},              {&f.probe, 0.7, 1}};
}

/// The patterns that a factor moves; the others need not be simulated again.
std::vector<const FlowPattern*> moved_by(const Knob& k, const Machines& machines, const FlowFactors& f,
                                         const std::vector<FlowPattern>& patterns) {
  std::vector<const FlowPattern*> moved;
  const double now = *k.value;
  for (const FlowPattern& p : patterns) {
    *k.value = k.low;
    const double low = predicted_GBps(machines, p, f);
    *k.value = k.high;
    if (std::abs(predicted_GBps(machines, p, f) / low - 1) > 1e-9) moved.push_back(&p);
  }
  *k.value = now;
  return moved;
}

}  // namespace

std::vector<FlowPattern> read_flow_patterns(const std::string& file, Diagnostics& out) {
  CsvFile f(file, out);
  const auto column = [&](const char* name) {
    const int c = f.column(name);
    if (c < 0) out.error(std::string("the column `") + name + "` is missing", {file, 1, 1, 1});
    return c;
  };
  const int machine = column("machine"), name = column("name"), flows = column("flows"), access = column("access"),
            harness = column("harness"), measured = column("measured_GBps"), source = column("source");
  std::vector<FlowPattern> patterns;
  if (out.has_errors()) return patterns;
  const auto text = [&](int c) { return std::string(f.cell(c)); };
  while (f.next())
    patterns.push_back({text(machine), text(name), text(flows), f.cell(access) == "read", text(harness),
                        f.number(measured), text(source)});
  return patterns;
}

double predicted_GBps(const Machines& machines, const FlowPattern& pattern, const FlowFactors& factors) {
  Machine machine = machines.at(pattern.machine);
  machine.pcie = factors.pcie;
  const Routes routes(machine);
  const auto pairs = parse_flows(pattern.flows, static_cast<int>(machine.gpus.size()));
  FlowOptions options;
  options.bytes = kFlowBytes;
  options.reads = pattern.reads;
  const std::vector<double> ends_us = flow_ends_us(machine, routes, pairs, options);
  if (pattern.harness == "copy") return last_flow_GBps(ends_us);
  return (pattern.harness == "probe" ? factors.probe : factors.p2pmark) * per_sender_GBps(pairs, ends_us);
}

FlowFactors fit_flow_factors(const Machines& machines, const std::vector<FlowPattern>& patterns) {
  FlowFactors f;
  for (const Knob& k : knobs_of(f)) *k.value = k.value == &f.pcie.uplink_blocking ? k.low : k.high;
  constexpr int kSweeps = 3;
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (const Knob& k : knobs_of(f)) {
      const auto moved = moved_by(k, machines, f, patterns);
      if (moved.empty()) continue;
      *k.value = lowest(k.low, k.high, [&](double x) {
        *k.value = x;
        double sum = 0;
        for (const FlowPattern* p : moved) sum += huber(std::log(predicted_GBps(machines, *p, f) / p->measured_GBps));
        return sum;
      });
    }
  return f;
}

}  // namespace moe
