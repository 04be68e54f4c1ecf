// Which topk distinct experts does one token choose? Picks in proportion to popularity, inside the token's groups.
//
//   Picker picker({.experts = 384, .topk = 8});
//   picker.use(&table, holder);              // popularity by rank, and the expert of each rank
//   std::uint32_t row[8];
//   picker.fill(random, row, 0);             // fresh token;  fill(random, row, 3): the first 3 stay
//
// A pick that is taken already, or outside the groups, is drawn again; after 64 vain tries the free experts are
// weighed one by one, which gives the same distribution.
//
// Groups (DeepSeek-V3: the 4 of 8 groups with the best sum of their 2 best scores): a token draws its groups in
// proportion to the sum of their popularities, then experts inside them. The number of groups is exact; that a token's
// single best experts pull their groups in is left out.
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "workload/popularity.hpp"
#include "workload/routing.hpp"

namespace moe {

class Picker {
 public:
  explicit Picker(const RouterShape& shape);
  /// table: weights by rank; nullptr: all experts alike. holder: [rank] expert. Both must outlive the picks.
  void use(const AliasTable* table, const std::uint32_t* holder);
  /// Chooses row[kept] ... row[topk - 1]; the first `kept` are there already.
  void fill(Random& random, std::uint32_t* row, int kept);

  /// Begins a token whose choices may be in the groups of `row` only.
  void begin_inside(const std::uint32_t* row);
  void take(std::uint32_t expert) { used_[expert] = stamp_; }
  bool is_free(std::uint32_t e) const {
    return used_[e] != stamp_ && (!grouped_ || open_[group_of_[e]] == stamp_);
  }
  int experts() const { return static_cast<int>(used_.size()); }
  int topk() const { return topk_; }
  std::uint32_t expert_of(std::size_t rank) const { return holder_[rank]; }
  double weight_of(std::size_t rank) const { return table_ == nullptr ? 1.0 : table_->weight(rank); }

 private:
  std::uint32_t pick(std::uint64_t bits) const {
    const auto n = static_cast<std::uint64_t>(used_.size());
    return holder_[table_ == nullptr ? ((bits >> 32) * n) >> 32 : table_->pick(bits)];
  }
  std::uint32_t pick_free(Random& random) const;
  std::uint32_t scan_free(Random& random) const;
  std::size_t scan_group(Random& random) const;
  void open_groups(Random& random, const std::uint32_t* row, int kept);

  int topk_, topk_groups_;
  bool grouped_;
  const AliasTable* table_ = nullptr;
  const std::uint32_t* holder_ = nullptr;
  std::uint32_t stamp_ = 0;                        ///< of the token; marks instead of flags, so nothing is cleared
  std::vector<std::uint32_t> used_;                ///< [expert]: last token that took it
  std::vector<std::uint32_t> open_;                ///< [group]: last token that may use it
  std::vector<std::uint32_t> group_of_;            ///< [expert]
  AliasTable group_table_;                         ///< sums of popularity by group
};

}  // namespace moe
