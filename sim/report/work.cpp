#include "report/work.hpp"

#include <algorithm>
#include <map>

namespace moe {

Work work_of(const Lowered& l, const GpuSpec& gpu) {
  struct Rank {
    double bytes = 0, unreplicated = 0, peak_seconds = 0, flop = 0;
  };
  std::vector<Rank> ranks(l.stage_of_rank.size());
  for (std::size_t i = index(l.first_op); i < l.facts.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    const OpFacts& f = l.facts[op];
    if (l.program.kind[op] != Kind::compute) continue;
    Rank& r = ranks[static_cast<std::size_t>(l.program.label[op].source)];
    r.bytes += f.dram_bytes / l.micro_batches;
    r.unreplicated += (f.replicated ? f.dram_bytes / l.ranks : f.dram_bytes) / l.micro_batches;
    r.flop += f.replicated ? f.flop / l.ranks : f.flop;
    if (f.flop > 0 && peak_flops(gpu, f.compute) > 0) r.peak_seconds += f.flop / peak_flops(gpu, f.compute);
  }
  Work sum;
  std::map<int, Rank> fullest;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Rank& stage = fullest[l.stage_of_rank[r]];
    stage.bytes = std::max(stage.bytes, ranks[r].bytes);
    stage.unreplicated = std::max(stage.unreplicated, ranks[r].unreplicated);
    sum.peak_seconds += ranks[r].peak_seconds / static_cast<double>(ranks.size());
    sum.flop += ranks[r].flop / static_cast<double>(ranks.size());
  }
  for (const auto& [stage, r] : fullest) sum.dram_bytes += r.bytes, sum.unreplicated_bytes += r.unreplicated;
  return sum;
}

ExpertGemm expert_gemm(const Case& c, const Lowered& l, const Timeline& t) {
  ExpertGemm e;
  double seconds = 0, bytes = 0, peak_seconds = 0;
  for (std::size_t i = index(l.first_op); i < l.facts.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    if (l.program.category[op] != Category::experts || l.program.label[op].source != 0) continue;
    seconds += to_ms(t.end[op] - t.start[op]) * 1e-3;
    bytes += l.facts[op].dram_bytes;
    peak_seconds += l.facts[op].flop / peak_flops(c.profile->gpu, l.facts[op].compute);
  }
  for (const Mlp& m : c.model.mlp) {
    if (m.kind != Mlp::Kind::moe || seconds <= 0) continue;
    const Layout layout = layout_of(c.experiment.plan, c.model);
    e.slice = static_cast<double>(m.expert_intermediate) / layout.moe_tp;
    const double groups = layout.experts_across_groups ? layout.dp : 1;
    e.rows_per_expert = l.rows * groups * m.topk / layout.moe_ep / l.active_experts;
    e.dram_pct_of_peak = bytes / seconds / c.profile->gpu.dram_Bps * 100;
    e.flops_pct_of_peak = peak_seconds / seconds * 100;
    break;
  }
  return e;
}

}  // namespace moe
