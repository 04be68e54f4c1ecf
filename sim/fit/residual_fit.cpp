#include "fit/residual_fit.hpp"

#include <map>

namespace moe {
namespace {

struct Cell {
  AxisValues where{};
  double value = 0, rows = 0;
  std::uint64_t shape = 0;
};

/// Distance between rows read from L2 and rows read from DRAM: beyond the reach of any point, so that what a
/// warm row missed never corrects a cold prediction.
constexpr double kApart = 12;

const std::vector<double>& weights_of(const std::string& section) {
  static const std::vector<double> dense{1, 1, 1, kApart}, moe{1, 1, 1, 1, 0.7, 0.5, 0.7, kApart},
      attention{1, 1, 1, 1, 1, kApart}, elementwise{1, 1, kApart};
  return section == "dense_gemm"         ? dense
         : section == "moe"              ? moe
         : section == "elementwise_and_state" ? elementwise
                                              : attention;
}

/// Axes that vary within a shape are averaged to the next doubling: m, tokens, batch and context. Rows per
/// expert are averaged over all distributions.
bool coarse(const std::string& section, std::size_t axis_position) {
  return section == "elementwise_and_state" || axis_position == 0 ||
         ((section == "attention_decode" || section == "mla_module") && axis_position == 1);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Cell> cells_of(const GpuSpec& gpu, const std::string& section, const Rows& rows,
                           const std::vector<double>& ln_residual) {
  struct Gathered {
    AxisValues sum{};
    std::vector<double> values;
  };
  std::map<std::pair<std::uint64_t, AxisValues>, Gathered> gathered;
  const std::size_t axes = weights_of(section).size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AxisValues at = axes_of(gpu, section, *rows[i]);
    AxisValues key{};
    for (std::size_t a = 0; a < axes; ++a)
      key[a] = section == "moe" && a == 6 ? 0
               : coarse(section, a)       ? std::round(at[a])
                                          : std::round(8 * at[a]) / 8;
    Gathered& g = gathered[{rows[i]->shape, key}];
    for (std::size_t a = 0; a < axes; ++a) g.sum[a] += at[a];
    g.values.push_back(ln_residual[i]);
  }
  std::vector<Cell> cells;
  for (const auto& [key, g] : gathered) {
    const auto n = static_cast<double>(g.values.size());
    Cell c{{}, median_of(g.values) * n / (n + 0.3), n, key.first};
    for (std::size_t a = 0; a < axes; ++a) c.where[a] = std::round(100 * g.sum[a] / n) / 100;
    c.value = std::round(1000 * std::clamp(c.value, -1.5, 1.5)) / 1000;
    cells.push_back(c);
  }
  return cells;
}

/// What is chosen on unseen shapes: how far points reach, how much the first axis (rows) counts, how many are
/// averaged.
struct Spacing {
  double reach = 1.5, first = 1;
  int neighbours = 6;
  void apply(const std::string& section, ResidualTable& table) const {
    table.weights = weights_of(section);
    table.weights[0] *= first;
    table.reach = reach;
    table.neighbours = neighbours;
  }
};

/// Takes the cells that are missed most, a sixteenth of the budget at a time.
ResidualTable select(const std::string& section, const std::vector<Cell>& cells, std::size_t budget,
                     const Spacing& spacing) {
  ResidualTable table;
  table.axes = residual_axes(section);
  spacing.apply(section, table);
  std::vector<bool> taken(cells.size());
  for (std::size_t left = std::min(budget, cells.size()); left > 0;) {
    std::vector<std::pair<double, std::size_t>> missed;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!taken[i]) {
        const double error = cells[i].value - std::log(table.factor(cells[i].where));
        missed.emplace_back(-std::abs(error) * std::sqrt(cells[i].rows), i);
      }
    const std::size_t batch = std::min({left, std::max<std::size_t>(1, budget / 16), missed.size()});
    std::partial_sort(missed.begin(), missed.begin() + static_cast<std::ptrdiff_t>(batch), missed.end());
    for (std::size_t i = 0; i < batch; ++i) {
      const Cell& c = cells[missed[i].second];
      taken[missed[i].second] = true;
      table.where.push_back(c.where);
      table.value.push_back(c.value);
    }
    left -= batch;
  }
  return table;
}

/// Mean |ln error| of cells, weighted by rows, each at most 0.3.
double score(const ResidualTable& table, const std::vector<Cell>& cells) {
  double sum = 0, rows = 0;
  for (const Cell& c : cells) {
    sum += c.rows * std::min(0.3, std::abs(c.value - std::log(table.factor(c.where))));
    rows += c.rows;
  }
  return rows > 0 ? sum / rows : 0;
}

}  // namespace

ResidualTable fit_residuals(const GpuSpec& gpu, const std::string& section, const Rows& rows,
                            const std::vector<double>& ln_residual, std::size_t budget) {
  constexpr double kWorthIt = 0.98;  // a table must take at least 2 % of the error away
  std::vector<Cell> seen, unseen, all = cells_of(gpu, section, rows, ln_residual);
  for (const Cell& c : all) ((c.shape >> 31) % 3 == 0 ? unseen : seen).push_back(c);
  if (budget < 8 || seen.size() < 8 || unseen.empty()) return {};
  ResidualTable trial = select(section, seen, budget, {});
  double best = score(ResidualTable{}, unseen) * kWorthIt;
  Spacing chosen{0, 1, 6};
  for (const double first : {0.5, 1.0, 2.0})
    for (const int neighbours : {3, 6})
      for (const double reach : {0.6, 1.0, 1.6, 2.6, 4.2}) {
        const Spacing spacing{reach, first, neighbours};
        spacing.apply(section, trial);
        const double with = score(trial, unseen);
        if (with < best) chosen = spacing;
        best = std::min(best, with);
      }
  return chosen.reach > 0 ? select(section, all, budget, chosen) : ResidualTable{};
}

}  // namespace moe
