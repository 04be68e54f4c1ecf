#include "workload/router.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "workload/recorded.hpp"

namespace moe {
namespace {

/// Separate streams of random numbers for separate purposes.
constexpr std::uint64_t kPopularity = 1, kTokens = 2, kPiggyback = 3, kFollow = 4;

}  // namespace

Router::Router(const Routing& routing, const RouterShape& shape, int tokens, int padding)
    : routing_(routing), hash_routed_(shape.hash_routed), tokens_(tokens), padding_(padding), picker_(shape),
      piggyback_(shape.hash_routed ? 0 : routing.oea_keep), identity_(static_cast<std::size_t>(shape.experts)),
      refreshed_(identity_.size()), rows_(identity_.size()) {
  using Kind = Routing::Kind;
  MOE_CHECK(tokens >= 0 && padding >= 0, "a batch has no negative rows");
  MOE_CHECK((routing.kind != Kind::histogram && routing.kind != Kind::trace) || routing.recorded != nullptr,
            "recorded routing must have been read");
  std::iota(identity_.begin(), identity_.end(), 0u);
  choices_.topk = shape.topk;
  choices_.tokens = tokens;
  choices_.padding = padding;
  choices_.expert.resize(stored_rows() * static_cast<std::size_t>(shape.topk));
  if (is_similar()) factor_ = common_factors(shape.experts, routing.similarity);
  if (routing.kind == Kind::power_law)
    ranked_ = AliasTable(power_law_weights(shape.experts, routing.alpha));
  else if (routing.kind == Kind::uniform && is_similar())
    ranked_ = AliasTable(factor_);
}

Random Router::random(int layer, int step, std::uint64_t purpose) const {
  const std::uint64_t place = (static_cast<std::uint64_t>(layer) << 32) ^ static_cast<std::uint32_t>(step);
  return Random(fnv1a(purpose, fnv1a(place, fnv1a(routing_.seed, kFnvOffset))));
}

Router::Layer& Router::layer_at(int number) {
  const auto [at, is_new] = layers_.try_emplace(number);
  Layer& l = at->second;
  if (!is_new) return l;
  l.popular = identity_;
  if (routing_.kind == Routing::Kind::power_law) {
    Random r = random(number, 0, kPopularity);
    shuffle(l.popular, r);
  }
  if (routing_.recorded != nullptr) l.table = AliasTable(recorded_weights(number));
  return l;
}

std::vector<double> Router::recorded_weights(int number) const {
  std::vector<double> count = routing_.recorded->layer(number).count;
  count.resize(identity_.size());
  return weights_of_counts(count, choices_.topk);
}

/// New common factors for all experts, or, with `temporal`, for a share of them.
void Router::renew_common(Layer& l, Random& random, bool all) {
  std::fill(refreshed_.begin(), refreshed_.end(), all ? 1 : 0);
  if (all) {
    l.common = identity_;
    return shuffle(l.common, random);
  }
  const double stays = std::pow(routing_.temporal, routing_.similarity);
  std::vector<std::uint32_t> rank, expert;
  for (std::uint32_t i = 0; i < l.common.size(); ++i) {
    if (random.uniform() < stays) continue;
    rank.push_back(i);
    expert.push_back(l.common[i]);
    refreshed_[l.common[i]] = 1;
  }
  shuffle(expert, random);
  for (std::size_t i = 0; i < rank.size(); ++i) l.common[rank[i]] = expert[i];
}

/// Tells the picker the popularity of the layer at l.step.
void Router::use_popularity(Layer& l, int number) {
  using Kind = Routing::Kind;
  if (hash_routed_ || (routing_.kind == Kind::uniform && !is_similar())) return picker_.use(nullptr, identity_.data());
  if (!is_similar())
    return routing_.kind == Kind::power_law ? picker_.use(&ranked_, l.popular.data())
                                            : picker_.use(&l.table, identity_.data());
  if (routing_.kind == Kind::uniform) return picker_.use(&ranked_, l.common.data());
  std::vector<double> weight(identity_.size());
  if (routing_.kind == Kind::power_law)
    for (std::size_t i = 0; i < weight.size(); ++i) weight[l.popular[i]] = ranked_.weight(i);
  else
    weight = recorded_weights(number);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[l.common[i]] *= factor_[i];
  l.table = AliasTable(std::move(weight));
  picker_.use(&l.table, identity_.data());
}

/// Each choice stays with the probability that, with the common factors' own, makes `temporal`; the rest is fresh.
void Router::keep_some(Random& random) {
  const double stays = is_similar() ? std::pow(routing_.temporal, 1 - routing_.similarity) : routing_.temporal;
  for (std::size_t t = 0; t < stored_rows(); ++t) {
    std::uint32_t* chosen = row(t);
    int kept = 0;
    for (int i = 0; i < choices_.topk; ++i)
      if (random.uniform() < stays && refreshed_[chosen[i]] == 0) chosen[kept++] = chosen[i];
    picker_.fill(random, chosen, kept);
  }
}

/// One step of a layer whose choices_ are those of the step before (step 0: none).
void Router::advance(Layer& l, int number, int step) {
  Random r = random(number, step, kTokens);
  const bool fresh = step == 0 || routing_.temporal <= 0;
  std::fill(refreshed_.begin(), refreshed_.end(), 0);
  if (is_similar()) renew_common(l, r, fresh);
  l.step = step;
  use_popularity(l, number);
  if (!fresh) return keep_some(r);
  for (std::size_t t = 0; t < stored_rows(); ++t) picker_.fill(r, row(t), 0);
}

/// Equal tokens get equal experts, different ones unrelated experts; `similarity` is the share of equal tokens.
void Router::choose_by_token_id(Random& random) {
  std::vector<std::uint32_t> common(static_cast<std::size_t>(choices_.topk));
  picker_.fill(random, common.data(), 0);
  for (std::size_t t = 0; t < stored_rows(); ++t) {
    const bool equal = routing_.similarity > 0 && random.uniform() < routing_.similarity;
    if (equal) std::copy(common.begin(), common.end(), row(t));
    else picker_.fill(random, row(t), 0);
  }
}

void Router::replay_trace(int number) {
  const RecordedRouting& record = *routing_.recorded;
  const std::vector<std::uint32_t>& choice = record.layer(number).choice;
  const auto k = static_cast<std::size_t>(choices_.topk), recorded = choice.size() / k;
  const std::size_t first = static_cast<std::size_t>(step_) * static_cast<std::size_t>(tokens_);
  for (std::size_t t = 0; t < static_cast<std::size_t>(tokens_); ++t)
    std::copy_n(choice.begin() + static_cast<std::ptrdiff_t>((first + t) % recorded * k), k, row(t));
  Random r = random(number, step_, kTokens);
  if (padding_ > 0) picker_.fill(r, row(static_cast<std::size_t>(tokens_)), 0);
}

/// Rows of one sequence are alike: each expert of the row before stays with probability `token_overlap`, the rest is what
/// the row chose by itself.
void Router::follow(Random& random) {
  const auto k = static_cast<std::size_t>(choices_.topk), per_sequence = static_cast<std::size_t>(routing_.tokens_per_sequence);
  std::vector<std::uint32_t> chosen;
  for (std::size_t t = 0; t < static_cast<std::size_t>(tokens_); ++t) {
    if (t % per_sequence == 0) continue;
    chosen.clear();
    for (std::size_t i = 0; i < k; ++i)
      if (random.uniform() < routing_.token_overlap) chosen.push_back(row(t - 1)[i]);
    for (std::size_t i = 0; i < k && chosen.size() < k; ++i)
      if (std::find(chosen.begin(), chosen.end(), row(t)[i]) == chosen.end()) chosen.push_back(row(t)[i]);
    std::copy(chosen.begin(), chosen.end(), row(t));
  }
}

void Router::choose(int number) {
  Layer& l = layer_at(number);
  if (is_trace() || hash_routed_) {
    Random r = random(number, step_, kTokens);
    use_popularity(l, number);
    return is_trace() ? replay_trace(number) : choose_by_token_id(r);
  }
  if (routing_.temporal <= 0) return advance(l, number, step_);
  if (l.step > step_) l.step = -1;
  if (l.step >= 0) choices_.expert = l.own;
  if (l.step == step_) return use_popularity(l, number);
  while (l.step < step_) advance(l, number, l.step + 1);
  l.own = choices_.expert;
}

const Choices& Router::choices(int layer) {
  if (layer == drawn_layer_ && step_ == drawn_step_) return choices_;
  choose(layer);
  if (routing_.token_overlap > 0 && routing_.tokens_per_sequence > 1) {
    Random f = random(layer, step_, kFollow);
    follow(f);
  }
  Random r = random(layer, step_, kPiggyback);
  piggyback_.apply(choices_, picker_, r);
  drawn_layer_ = layer;
  drawn_step_ = step_;
  return choices_;
}

const std::vector<int>& Router::draw(int layer) {
  const Choices& c = choices(layer);
  std::fill(rows_.begin(), rows_.end(), 0);
  const auto real = static_cast<std::size_t>(c.tokens) * static_cast<std::size_t>(c.topk);
  for (std::size_t i = 0; i < real; ++i) ++rows_[c.expert[i]];
  for (std::size_t i = real; i < c.expert.size(); ++i) rows_[c.expert[i]] += padding_;
  return rows_;
}

RankLoads Router::draw(int layer, const std::vector<Source>& sources, const ExpertMap& map) {
  MOE_CHECK(map.copies.size() == rows_.size(), "the placement must be of this model");
  return rank_loads(choices(layer), sources, map);
}

std::vector<double> Router::expected_load(int layer) {
  const Layer& l = layer_at(layer);
  std::vector<double> load(rows_.size(), static_cast<double>(choices_.topk) / static_cast<double>(rows_.size()));
  if (hash_routed_ || routing_.kind == Routing::Kind::uniform) return load;
  if (routing_.kind != Routing::Kind::power_law) return chosen_share(recorded_weights(layer), choices_.topk);
  const std::vector<double> by_rank = chosen_share(ranked_.weights(), choices_.topk);
  for (std::size_t i = 0; i < load.size(); ++i) load[l.popular[i]] = by_rank[i];
  return load;
}

}  // namespace moe
