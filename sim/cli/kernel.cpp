// moe-sim kernel PROFILE OP ...: what one kernel costs, and why.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/fit_commands.hpp"
#include "cli/kernel_ops.hpp"

namespace moe {
namespace {

constexpr double k90 = 1.645;  ///< deviations that hold 90 % of a normal spread

struct Interval {
  double low = 0, high = 0;
};
Interval interval_of(const KernelCost& c) {
  return {c.time_us * std::exp(-k90 * c.spread), c.time_us * std::exp(k90 * c.spread)};
}

double share_pct(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string explanation(const Profile& p, const KernelAnswer& a) {
  const KernelCost& c = a.cost;
  const Interval i = interval_of(c);
  const double peak = peak_flops(p.gpu, c.compute), bytes_per_s = c.dram_bytes / (c.time_us * 1e-6),
               flops = c.flop / (c.time_us * 1e-6);
  TextTable t("lrl");
  t.row({"time", significant(c.time_us) + " us",
         fmt::format("90 % between {} and {} us, {} the fitted range", significant(i.low),
                     significant(i.high), c.in_range ? "inside" : "OUTSIDE")});
  t.row({"launch", significant(c.launch_us) + " us", "fixed part and bookkeeping"});
  t.row({"bytes", significant(c.memory_us) + " us",
         fmt::format("{} MB from DRAM alone; achieved {} of {} TB/s, {:.1f} %",
                     significant(c.dram_bytes * 1e-6), significant(bytes_per_s * 1e-12),
                     significant(p.gpu.dram_Bps * 1e-12), share_pct(bytes_per_s, p.gpu.dram_Bps))});
  t.row({"tiles", significant(c.compute_us) + " us",
         fmt::format("{} in {} waves over {} SMs", a.tiles, significant(c.waves), p.gpu.sm)});
  if (c.flop > 0 && peak > 0)
    t.row({"flops", significant(c.flop / peak * 1e6) + " us",
           fmt::format("{} GFLOP at peak; achieved {} of {} TFLOP/s, {:.2f} %", significant(c.flop * 1e-9),
                       significant(flops * 1e-12), significant(peak * 1e-12), share_pct(flops, peak))});
  if (c.factor != 1)
    t.row({"table", fmt::format("x {:.3f}", c.factor), "smooth correction of what the equation misses"});
  return t.render();
}

nlohmann::ordered_json json_of(const Profile& p, const KernelAnswer& a) {
  const Interval i = interval_of(a.cost);
  const KernelCost& c = a.cost;
  return {{"path", a.path},
          {"sizes", a.sizes},
          {"time_us", c.time_us},
          {"interval90_us", {i.low, i.high}},
          {"launch_us", c.launch_us},
          {"memory_us", c.memory_us},
          {"compute_us", c.compute_us},
          {"factor", c.factor},
          {"dram_bytes", c.dram_bytes},
          {"flop", c.flop},
          {"waves", c.waves},
          {"tiles", a.tiles},
          {"dram_pct_of_peak", share_pct(c.dram_bytes / (c.time_us * 1e-6), p.gpu.dram_Bps)},
          {"flops_pct_of_peak", share_pct(c.flop / (c.time_us * 1e-6), peak_flops(p.gpu, c.compute))},
          {"in_range", c.in_range}};
}

std::string sweep_table(const Profile& p, const std::string& axis, const std::vector<double>& values,
                        const std::vector<KernelAnswer>& answers) {
  constexpr std::size_t kBar = 30;
  double most = 0;
  for (const KernelAnswer& a : answers) most = std::max(most, a.cost.time_us);
  TextTable t("rrrrrrl");
  t.row({axis, "us", "DRAM %", "flops %", "waves", "range", ""});
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const KernelCost& c = answers[i].cost;
    t.row({fmt::format("{:g}", values[i]), significant(c.time_us),
           fmt::format("{:.1f}", share_pct(c.dram_bytes / (c.time_us * 1e-6), p.gpu.dram_Bps)),
           fmt::format("{:.2f}", share_pct(c.flop / (c.time_us * 1e-6), peak_flops(p.gpu, c.compute))),
           significant(c.waves), c.in_range ? "in" : "OUT", bar(c.time_us / most, kBar)});
  }
  return t.render();
}

int sweep(const Profile& p, const KernelArguments& a, const Streams& s) {
  const std::size_t equal = a.sweep.find('=');
  if (equal == std::string::npos) throw InputError("`--sweep` is size=a..b, e.g. --sweep tokens=1..512");
  const std::string axis = a.sweep.substr(0, equal);
  std::vector<KernelAnswer> answers;
  const std::vector<double> values = sweep_values(a.sweep.substr(equal + 1));
  for (const double v : values) {
    KernelArguments one = a;
    one.sizes[axis] = v;
    answers.push_back(answer(p, one));
  }
  if (a.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const KernelAnswer& one : answers) out.push_back(json_of(p, one));
    s.out << out.dump(2) << "\n";
  } else {
    s.out << fmt::format("{}  {}  on {}\n", a.op, answers.front().path, p.gpu.name)
          << sweep_table(p, axis, values, answers);
  }
  return kAnswered;
}

}  // namespace

int kernel_command(const KernelArguments& a, const Streams& s) {
  const Profile p = named_profile(a.profile);
  if (!a.sweep.empty()) return sweep(p, a, s);
  const KernelAnswer one = answer(p, a);
  if (a.json)
    s.out << json_of(p, one).dump(2) << "\n";
  else {
    std::string sizes;
    for (const auto& [name, value] : one.sizes)
      sizes += fmt::format("{}{} {:g}", sizes.empty() ? "" : ", ", name, value);
    s.out << fmt::format("{}  {}  {}  on {}\n", a.op, one.path, sizes, p.gpu.name) << explanation(p, one);
  }
  return kAnswered;
}

}  // namespace moe
