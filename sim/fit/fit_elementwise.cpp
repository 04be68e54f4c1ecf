#include "fit/path_fits.hpp"

namespace moe {

ElementwisePath fit_elementwise(const GpuSpec& gpu, const PathData& data, const Rows& rows) {
  const double dram = gpu.dram_Bps * 1e-12;
  std::vector<Knob<ElementwisePath>> knobs{
      {[](ElementwisePath& p) -> double& { return p.t0_us; }, {0.3, 60}},
      {[](ElementwisePath& p) -> double& { return p.dram_eff; }, {0.1, 0.95, false}},
      {[](ElementwisePath& p) -> double& { return p.l2_tbps; }, {0.3 * dram, 8 * dram}},
      {[](ElementwisePath& p) -> double& { return p.p; }, {1.2, 14}}};
  if (!data.x_unit.empty())
    knobs.push_back({[](ElementwisePath& p) -> double& { return p.c_us; }, {1e-3, 30}});
  Best<ElementwisePath> best;
  for (const double c_us : {0.02, 0.5, 5.0}) {
    ElementwisePath path;
    path.x_unit = data.x_unit;
    path.bytes_of = data.bytes_of;
    path.t0_us = 3;
    path.dram_eff = 0.8;
    path.l2_tbps = 2.5 * dram;
    path.p = 3;
    path.c_us = data.x_unit.empty() ? 0 : c_us;
    const double loss = tune(gpu, path, knobs, rows, 40);
    best.offer(path, loss);
  }
  for (const auto& k : knobs) k.of(best.path) = rounded(k.of(best.path));
  return best.path;
}

}  // namespace moe
