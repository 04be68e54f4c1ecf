#include "fit/residual_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace moe {
namespace {

struct Cell {
  AxisValues where{};
  double value = 0, rows = 0;  ///< rows: weighted, row_weight()
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
    double weight = 0;
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
    g.weight += row_weight(*rows[i]);
  }
  std::vector<Cell> cells;
  for (const auto& [key, g] : gathered) {
    const auto n = static_cast<double>(g.values.size());
    Cell c{{}, median_of(g.values) * n / (n + 0.3), g.weight, key.first};
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

double capped(double ln_error) { return std::min(0.3, std::abs(ln_error)); }

/// Greedy choice of table points: next the cell whose correction, fading over its neighbours, takes the most error away
/// from all rows around it. A cell that is off alone helps only itself and harms its neighbours, so it comes late.
class Chooser {
 public:
  Chooser(const std::vector<Cell>& cells, const ResidualTable& table)
      : cells_(cells), near_(cells.size()), error_(cells.size()), gain_(cells.size()), taken_(cells.size()) {
    constexpr double kFaded = 0.05;
    constexpr std::size_t kMost = 24;  // neighbours that are looked at
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::vector<Near>& all = near_[i];
      for (std::size_t j = 0; j < cells.size(); ++j) {
        double squared = 0;
        for (std::size_t a = 0; a < table.weights.size(); ++a) {
          const double d = table.weights[a] * (cells[i].where[a] - cells[j].where[a]);
          squared += d * d;
        }
        if (squared > 3 * table.reach * table.reach) continue;
        const double share = std::exp(-squared / (table.reach * table.reach));
        if (share > kFaded) all.push_back({j, share});
      }
      std::stable_sort(all.begin(), all.end(), [](const Near& x, const Near& y) { return x.share > y.share; });
      if (all.size() > kMost) all.resize(kMost);
    }
    restart(table);
  }
  /// Errors that `table` leaves.
  void restart(const ResidualTable& table) {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      error_[i] = cells_[i].value - (table.empty() ? 0 : std::log(table.factor(cells_[i].where)));
    for (std::size_t i = 0; i < cells_.size(); ++i) gain_[i] = gain_of(i);
  }
  const Cell& take() {
    std::size_t best = cells_.size();
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (!taken_[i] && (best == cells_.size() || gain_[i] > gain_[best])) best = i;
    taken_[best] = true;
    const double error = error_[best];
    for (const Near& n : near_[best]) error_[n.cell] -= n.share * error;
    std::vector<std::size_t> touched;
    for (const Near& n : near_[best])
      for (const Near& m : near_[n.cell]) touched.push_back(m.cell);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const std::size_t c : touched) gain_[c] = gain_of(c);
    return cells_[best];
  }

 private:
  struct Near {
    std::size_t cell = 0;
    double share = 0;  ///< of a correction that reaches it
  };
  double gain_of(std::size_t c) const {
    double gain = 0;
    for (const Near& n : near_[c])
      gain += cells_[n.cell].rows * (capped(error_[n.cell]) - capped(error_[n.cell] - n.share * error_[c]));
    return gain;
  }
  const std::vector<Cell>& cells_;
  std::vector<std::vector<Near>> near_;
  std::vector<double> error_, gain_;
  std::vector<bool> taken_;
};

/// At most `budget` points, in the order of their use; what the table leaves is judged anew after every tenth.
ResidualTable select(const std::string& section, const std::vector<Cell>& cells, std::size_t budget,
                     const Spacing& spacing) {
  ResidualTable table;
  table.axes = residual_axes(section);
  spacing.apply(section, table);
  Chooser chooser(cells, table);
  const std::size_t points = std::min(budget, cells.size()), batch = std::max<std::size_t>(1, points / 10);
  while (table.value.size() < points) {
    const Cell& c = chooser.take();
    table.where.push_back(c.where);
    table.value.push_back(c.value);
    if (table.value.size() % batch == 0) chooser.restart(table);
  }
  return table;
}

/// Mean |ln error| of cells, weighted by rows, each at most 0.3.
double score(const ResidualTable& table, const std::vector<Cell>& cells) {
  double sum = 0, rows = 0;
  for (const Cell& c : cells) {
    sum += c.rows * capped(c.value - std::log(table.factor(c.where)));
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
  double best = score(ResidualTable{}, unseen) * kWorthIt;
  Spacing chosen{0, 1, 6};
  for (const double reach : {0.7, 1.5, 3.0}) {  // points are chosen for a reach; those nearby are tried with them
    ResidualTable trial = select(section, seen, budget, {reach, 1, 6});
    for (const double first : {0.5, 1.0, 2.0})
      for (const int neighbours : {3, 6})
        for (const double factor : {0.8, 1.0, 1.4}) {
          const Spacing spacing{factor * reach, first, neighbours};
          spacing.apply(section, trial);
          const double with = score(trial, unseen);
          if (with < best) chosen = spacing;
          best = std::min(best, with);
        }
  }
  return chosen.reach > 0 ? select(section, all, budget, chosen) : ResidualTable{};
}

}  // namespace moe
