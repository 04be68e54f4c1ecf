// Where ranks of a stage meet: collectives, routed experts, and tokens that travel between groups.
#include <algorithm>
#include <array>
#include "lower/step.hpp"

namespace moe {
namespace {

/// A collective's ranks as (group, lane) in ring order.
using Members = std::vector<std::pair<int, int>>;

std::vector<Members> members_of(Scope scope, const Layout& l) {
  std::vector<Members> out;
  auto add = [&](int groups, int from_group, int lanes, int from_lane) {
    Members m;
    for (int g = 0; g < groups; ++g)
      for (int t = 0; t < lanes; ++t) m.emplace_back(from_group + g, from_lane + t);
    out.push_back(std::move(m));
  };
  if (scope == Scope::group)
    for (int g = 0; g < l.dp; ++g) add(1, g, l.tp, 0);
  else if (scope == Scope::context)
    for (int g = 0; g < l.dp; ++g)
      for (int t = 0; t < l.tp; t += l.dcp) add(1, g, l.dcp, t);
  else if (scope == Scope::across)
    for (int t = 0; t < l.tp; ++t) add(l.dp, 0, 1, t);
  else add(l.dp, 0, l.tp, 0);
  return out;
}

}  // namespace

const Step::Meeting& Step::meeting(Scope scope, int s) {
  const auto [found, is_new] = meetings_.try_emplace({scope, s});
  Meeting& m = found->second;
  if (!is_new) return m;
  const bool folded = writer_.folded();
  const int first_rank = s * (folded ? 1 : layout_.ranks_per_stage());
  for (const Members& members : members_of(scope, layout_)) {
    m.gpus.emplace_back();
    m.played.emplace_back();
    m.group.push_back(static_cast<std::size_t>(folded ? 0 : members[0].first));
    for (const auto& [g, t] : members) {
      m.gpus.back().push_back(case_.experiment.gpus[static_cast<std::size_t>(layout_.rank(s, g, t))]);
      if (!folded || (g == 0 && t == 0)) m.played.back().push_back(first_rank + (folded ? 0 : g * layout_.tp + t));
    }
  }
  return m;
}

void Step::collective(int s, int micro, const std::vector<const Recipe*>& by_group, std::size_t k, int layer) {
  const Meeting& m = meeting((*by_group[0])[k].scope, s);
  for (std::size_t i = 0; i < m.gpus.size(); ++i)
    if (!m.played[i].empty())  // folded: the first group stands for all
      writer_.collective(m.played[i], m.gpus, i, micro, (*by_group[m.group[i]])[k], layer);
}

Experts& Step::experts(int micro, int group) {
  const auto key = std::make_tuple(mlp_, micro, group);
  const auto found = experts_.find(key);
  if (found != experts_.end()) return found->second;
  std::vector<Source> sources;
  for (int g = 0; g < layout_.dp; ++g) {
    if (!layout_.experts_across_groups && g != group) continue;
    const int real = real_[static_cast<std::size_t>(micro * layout_.dp + g)] * static_cast<int>(shape_.queries);
    sources.push_back({real, rows_[static_cast<std::size_t>(micro)] - real});
  }
  // Groups that never meet draw alike: one of them stands for the others.
  const Mlp& mlp = case_.model.mlp[static_cast<std::size_t>(mlp_)];
  return experts_.emplace(key, prepare_experts(case_, mlp, step_, {micro + shape_.seed, static_cast<int>(shape_.queries)}, std::move(sources)))
      .first->second;
}

void Step::routed(int s, int micro, int layer) {
  const std::vector<int>& ranks = writer_.stage_ranks(s);
  if (layout_.experts_across_groups) return routed_across(micro, ranks, layer);
  for (int g = 0; g < groups_played(); ++g) {
    std::vector<int> mine;
    for (const int r : ranks)
      if (writer_.played()[static_cast<std::size_t>(r)].group == g) mine.push_back(r);
    routed_in_group(micro, mine, experts(micro, g), layer);
  }
}

void Step::play_experts(int rank, int micro, const Recipe& stages, int layer, const std::vector<int>& rows, double tokens_here) {
  const double aux_us = writer_.take_aux_memory_us(rank, micro);
  for (std::size_t k = 0; k < stages.size(); ++k)
    writer_.kernel(rank, micro, stages[k], layer, stages[k].cost.time_us + (k == kFirstGemm ? aux_us : 0));
  writer_.record_routing(rank, rows, tokens_here);
}

void Step::routed_in_group(int micro, const std::vector<int>& ranks, Experts& e, int layer) {
  ++moe_layers_;
  const int sets = layout_.moe_ep;
  if (sets == 1) {  // every rank holds a slice of every expert
    const std::vector<int>& rows = e.router.draw(layer);
    active_ += static_cast<double>(std::count_if(rows.begin(), rows.end(), [](int r) { return r > 0; }));
    cost_stages(case_, gpu_, e, layout_, rows, rows_of(micro), rows_of(micro));
    for (const int r : ranks) play_experts(r, micro, e.stages, layer, rows, rows_of(micro));
    return;
  }
  const RankLoads loads = route(case_, e, layer, sets);
  std::vector<std::array<KernelCost, kStages>> by_set(static_cast<std::size_t>(sets));
  std::size_t slowest = 0;
  double most = -1;
  for (std::size_t set = 0; set < by_set.size(); ++set) {
    active_ += static_cast<double>(loads.touched(static_cast<int>(set))) / sets;
    cost_stages(case_, gpu_, e, layout_, loads.rows[set], rows_of(micro), loads.tokens_here[set]);
    double sum = 0;
    for (std::size_t k = 0; k < kStages; ++k) sum += (by_set[set][k] = e.stages[k].cost).time_us;
    if (sum > most) slowest = set, most = sum;
  }
  // Folded: the slowest set stands for all, since the ranks meet again in the all-reduce.
  for (const int r : ranks) {
    const int lane = writer_.played()[static_cast<std::size_t>(r)].lane;
    const auto set = writer_.folded() ? slowest : static_cast<std::size_t>(layout_.expert_set(0, lane));
    for (std::size_t k = 0; k < kStages; ++k) e.stages[k].cost = by_set[set][k];
    play_experts(r, micro, e.stages, layer, loads.rows[set], loads.tokens_here[set]);
  }
}

void Step::routed_across(int micro, const std::vector<int>& ranks, int layer) {
  Experts& e = experts(micro, 0);
  ++moe_layers_;
  for (int set = 0; set < layout_.moe_ep; ++set) active_ += static_cast<double>(travelling_.touched(set)) / layout_.moe_ep;
  for (const int r : ranks) {
    const Played& p = writer_.played()[static_cast<std::size_t>(r)];
    const auto set = static_cast<std::size_t>(layout_.expert_set(p.group, p.lane));
    cost_stages(case_, gpu_, e, layout_, travelling_.rows[set], rows_of(micro) * layout_.dp, travelling_.tokens_here[set]);
    play_experts(r, micro, e.stages, layer, travelling_.rows[set], travelling_.tokens_here[set]);
  }
}

void Step::exchange_tokens(int s, int micro, bool back, int layer) {
  const Mlp& mlp = case_.model.mlp[static_cast<std::size_t>(mlp_)];
  if (!back) travelling_ = route(case_, experts(micro, 0), layer, layout_.moe_ep);
  const double width = (mlp.latent > 0 ? mlp.latent : case_.model.hidden) * (back ? 2 : case_.stack.comm.dispatch_bytes);
  Item item;
  item.name = back ? "combine" : "dispatch";
  if (!case_.stack.comm.dispatch_all_to_all) {
    item.what = Item::What::collective;
    item.category = Category::all_gather;
    item.op = back ? CollectiveOp::reduce_scatter : CollectiveOp::all_gather;
    item.scope = Scope::across;
    item.bytes = rows_of(micro) * layout_.dp * width;
    item.call = collective_call(item.op, item.bytes);
    const Recipe recipe{item};
    return write(s, micro, std::vector<const Recipe*>(static_cast<std::size_t>(groups_played()), &recipe), layer);
  }
  item.category = Category::all_to_all;
  item.call = {"all_to_all", "bf16", {}};
  const std::vector<int>& ranks = writer_.stage_ranks(s);
  std::vector<std::vector<double>> bytes(ranks.size(), std::vector<double>(ranks.size(), 0.0));
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      const Played &from = writer_.played()[static_cast<std::size_t>(ranks[i])], &to = writer_.played()[static_cast<std::size_t>(ranks[j])];
      // Every lane of a group sends its part of the group's tokens; a token goes once to each rank that it needs.
      const int tokens = travelling_.tokens_between[static_cast<std::size_t>(from.group)][static_cast<std::size_t>(layout_.expert_set(to.group, to.lane))];
      (back ? bytes[j][i] : bytes[i][j]) = i == j ? 0 : tokens * width / layout_.tp;
    }
  const CommCost& cost = case_.profile.comm;
  writer_.exchange(ranks, micro, bytes, item, cost.a2a_base_us + cost.a2a_peer_us * static_cast<double>(ranks.size() - 1), layer);
}

}  // namespace moe
