#include "workload/picker.hpp"

#include "base/check.hpp"

namespace moe {

Picker::Picker(const RouterShape& s)
    : topk_(s.topk), topk_groups_(s.topk_groups), grouped_(s.topk_groups < s.groups && !s.hash_routed) {
  MOE_CHECK(s.experts > 0 && s.topk > 0 && s.topk <= s.experts, "a router needs 0 < topk <= experts");
  used_.assign(static_cast<std::size_t>(s.experts), 0);
  if (!grouped_) return;
  MOE_CHECK(s.topk_groups > 0 && s.experts % s.groups == 0, "groups must divide the experts");
  MOE_CHECK(s.topk <= s.topk_groups * (s.experts / s.groups), "a token's groups must hold topk experts");
  open_.assign(static_cast<std::size_t>(s.groups), 0);
  for (int e = 0; e < s.experts; ++e) group_of_.push_back(static_cast<std::uint32_t>(e / (s.experts / s.groups)));
}

void Picker::use(const AliasTable* table, const std::uint32_t* holder) {
  table_ = table;
  holder_ = holder;
  if (!grouped_) return;
  std::vector<double> weight(open_.size());
  for (std::size_t r = 0; r < used_.size(); ++r) weight[group_of_[holder[r]]] += weight_of(r);
  group_table_ = AliasTable(std::move(weight));
}

std::size_t Picker::scan_group(Random& random) const {
  double left = 0;
  for (std::size_t g = 0; g < open_.size(); ++g) left += open_[g] == stamp_ ? 0 : group_table_.weight(g);
  double at = random.uniform() * left;
  std::size_t chosen = 0;
  for (std::size_t g = 0; g < open_.size(); ++g) {
    if (open_[g] == stamp_) continue;
    chosen = g;  // the last closed one, should rounding carry `at` past the end
    if (at < group_table_.weight(g)) break;
    at -= group_table_.weight(g);
  }
  return chosen;
}

void Picker::open_groups(Random& random, const std::uint32_t* row, int kept) {
  int opened = 0;
  auto open = [&](std::size_t g) {
    opened += open_[g] == stamp_ ? 0 : 1;
    open_[g] = stamp_;
  };
  for (int i = 0; i < kept; ++i) open(group_of_[row[i]]);
  for (int tries = 0; opened < topk_groups_; ++tries)
    open(tries < 64 ? group_table_.pick(random.next()) : scan_group(random));
}

std::uint32_t Picker::scan_free(Random& random) const {
  double total = 0;
  std::uint32_t free = 0;
  for (std::size_t r = 0; r < used_.size(); ++r)
    if (is_free(holder_[r])) total += weight_of(r), ++free;
  MOE_CHECK(free > 0, "a token must find a free expert");
  double at = random.uniform() * (total > 0 ? total : free);
  std::uint32_t chosen = 0;
  for (std::size_t r = 0; r < used_.size(); ++r) {
    const double weight = total > 0 ? weight_of(r) : 1;
    if (weight <= 0 || !is_free(holder_[r])) continue;
    chosen = holder_[r];  // the last one, should rounding carry `at` past the end
    if (at < weight) break;
    at -= weight;
  }
  return chosen;
}

std::uint32_t Picker::pick_free(Random& random) const {
  for (int tries = 0; tries < 64; ++tries) {
    const std::uint32_t e = pick(random.next());
    if (is_free(e)) return e;
  }
  return scan_free(random);
}

void Picker::fill(Random& random, std::uint32_t* row, int kept) {
  ++stamp_;
  for (int i = 0; i < kept; ++i) take(row[i]);
  if (grouped_) open_groups(random, row, kept);
  for (int i = kept; i < topk_; ++i) {
    row[i] = pick_free(random);
    take(row[i]);
  }
}

void Picker::begin_inside(const std::uint32_t* row) {
  ++stamp_;
  if (grouped_)
    for (int i = 0; i < topk_; ++i) open_[group_of_[row[i]]] = stamp_;
}

}  // namespace moe
