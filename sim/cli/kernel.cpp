// moe-sim kernel PROFILE OP ...: what one kernel costs, and why.
#include <fmt/core.h>

#include <algorithm>
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

double dram_pct(const Profile& p, const KernelCost& c) {
  return share_pct(c.dram_bytes / (c.time_us * 1e-6), p.gpu.dram_Bps);
}
double flops_pct(const Profile& p, const KernelCost& c) {
  return share_pct(c.flop / (c.time_us * 1e-6), peak_flops(p.gpu, c.compute));
}

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
          {"dram_pct_of_peak", dram_pct(p, c)},
          {"flops_pct_of_peak", flops_pct(p, c)},
          {"in_range", c.in_range}};
}

/// One row per path: for a question that several paths answer.
std::string paths_table(const Profile& p, const std::vector<KernelAnswer>& all) {
  TextTable t("lrrrrrrrrrrl");
  t.row({"path", "us", "90 % from", "to", "launch", "bytes", "tiles", "table", "DRAM %", "flops %", "waves", "range"});
  for (const KernelAnswer& a : all) {
    const KernelCost& c = a.cost;
    const Interval i = interval_of(c);
    t.row({a.path, significant(c.time_us), significant(i.low), significant(i.high), significant(c.launch_us),
           significant(c.memory_us), significant(c.compute_us), fmt::format("x {:.3f}", c.factor),
           fmt::format("{:.1f}", dram_pct(p, c)), fmt::format("{:.2f}", flops_pct(p, c)), significant(c.waves),
           c.in_range ? "in" : "OUT"});
  }
  return t.render();
}

std::string sweep_table(const Profile& p, const std::string& axis, const std::vector<double>& values,
                        const std::vector<std::vector<KernelAnswer>>& rows) {
  constexpr std::size_t kBar = 30;
  double most = 0;
  for (const auto& row : rows) most = std::max(most, row.front().cost.time_us);
  TextTable t("rrrrrrl");
  t.row({axis, "us", "DRAM %", "flops %", "waves", "range", ""});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KernelCost& c = rows[i].front().cost;
    t.row({fmt::format("{:g}", values[i]), significant(c.time_us), fmt::format("{:.1f}", dram_pct(p, c)),
           fmt::format("{:.2f}", flops_pct(p, c)), significant(c.waves), c.in_range ? "in" : "OUT",
           bar(c.time_us / most, kBar)});
  }
  return t.render();
}

/// Microseconds, one column per path; their names stand above.
std::string sweep_of_paths(const std::string& axis, const std::vector<double>& values,
                           const std::vector<std::vector<KernelAnswer>>& rows) {
  std::string out;
  std::vector<std::string> head{axis};
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    head.push_back(fmt::format("[{}] us", i + 1));
    out += fmt::format("  [{}]  {}\n", i + 1, rows.front()[i].path);
  }
  TextTable t(std::string(head.size(), 'r'));
  t.row(head);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells{fmt::format("{:g}", values[r])};
    for (const KernelAnswer& a : rows[r]) cells.push_back(significant(a.cost.time_us) + (a.cost.in_range ? " " : "*"));
    t.row(cells);
  }
  return out + "\n" + t.render() + "  *: outside the fitted range\n";
}

int sweep(const Profile& p, const KernelArguments& a, const Streams& s) {
  const std::size_t equal = a.sweep.find('=');
  if (equal == std::string::npos) throw InputError("`--sweep` is size=a..b, e.g. --sweep tokens=1..512");
  const std::string axis = a.sweep.substr(0, equal);
  std::vector<std::string> known;
  for (const auto& [name, help] : kernel_sizes()) known.push_back(name);
  if (std::find(known.begin(), known.end(), axis) == known.end())
    throw InputError(fmt::format("no size `{}` to sweep\n  = help: {}", axis, suggestion(axis, known)));
  std::vector<std::vector<KernelAnswer>> rows;
  const std::vector<double> values = sweep_values(a.sweep.substr(equal + 1));
  for (const double v : values) {
    KernelArguments one = a;
    one.sizes[axis] = v;
    rows.push_back(answers(p, one));
  }
  if (a.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const auto& row : rows)
      for (const KernelAnswer& one : row) out.push_back(json_of(p, one));
    s.out << out.dump(2) << "\n";
  } else if (rows.front().size() == 1) {
    s.out << fmt::format("{}  {}  on {}\n", a.op, rows.front().front().path, p.gpu.name)
          << sweep_table(p, axis, values, rows);
  } else {
    s.out << fmt::format("{}  on {}\n", a.op, p.gpu.name) << sweep_of_paths(axis, values, rows);
  }
  return kAnswered;
}

}  // namespace

int kernel_command(const KernelArguments& a, const Streams& s) {
  const Profile p = named_profile(a.profile);
  if (!a.sweep.empty()) return sweep(p, a, s);
  const std::vector<KernelAnswer> all = answers(p, a);
  if (a.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const KernelAnswer& one : all) out.push_back(json_of(p, one));
    s.out << (all.size() == 1 ? out.front() : out).dump(2) << "\n";
    return kAnswered;
  }
  std::string sizes;
  for (const auto& [name, value] : all.front().sizes)
    sizes += fmt::format("{}{} {:g}", sizes.empty() ? "" : ", ", name, value);
  if (all.size() == 1) {
    s.out << fmt::format("{}  {}  {}  on {}\n", a.op, all.front().path, sizes, p.gpu.name)
          << explanation(p, all.front());
    return kAnswered;
  }
  s.out << fmt::format("{}  {}  on {}: {} paths fit; microseconds\n", a.op, sizes, p.gpu.name, all.size())
        << paths_table(p, all) << "next  --path NAME says the parts of one path in words\n";
  return kAnswered;
}

}  // namespace moe
