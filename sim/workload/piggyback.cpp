#include "workload/piggyback.hpp"

#include <algorithm>

namespace moe {

void Piggyback::list_active(const Choices& choices, const Picker& picker) {
  is_active_.assign(static_cast<std::size_t>(picker.experts()), 0);
  const auto k = static_cast<std::size_t>(choices.topk);
  for (std::size_t row = 0; row < choices.expert.size(); row += k)
    for (std::size_t i = 0; i < static_cast<std::size_t>(keep_); ++i) is_active_[choices.expert[row + i]] = 1;
  active_.clear();
  sum_.clear();
  double sum = 0;
  for (std::size_t rank = 0; rank < is_active_.size(); ++rank) {
    const std::uint32_t e = picker.expert_of(rank);
    if (is_active_[e] == 0) continue;
    active_.push_back(e);
    sum_.push_back(sum += picker.weight_of(rank));
  }
}

std::uint32_t Piggyback::pick(const Picker& picker, Random& random) const {
  for (int tries = 0; tries < 64; ++tries) {
    const auto at = std::upper_bound(sum_.begin(), sum_.end() - 1, random.uniform() * sum_.back()) - sum_.begin();
    const std::uint32_t e = active_[static_cast<std::size_t>(at)];
    if (picker.is_free(e)) return e;
  }
  std::vector<std::uint32_t> free;  // rare: nearly all active experts are taken
  for (const std::uint32_t e : active_)
    if (picker.is_free(e)) free.push_back(e);
  if (free.empty()) return static_cast<std::uint32_t>(picker.experts());
  return free[random.below(static_cast<std::uint32_t>(free.size()))];
}

void Piggyback::replace(std::uint32_t* row, Picker& picker, Random& random) const {
  picker.begin_inside(row);
  for (int i = 0; i < picker.topk(); ++i)
    if (is_active_[row[i]] != 0) picker.take(row[i]);
  for (int i = keep_; i < picker.topk(); ++i) {
    if (is_active_[row[i]] != 0) continue;
    const std::uint32_t e = pick(picker, random);
    if (e == static_cast<std::uint32_t>(picker.experts())) return;
    row[i] = e;
    picker.take(e);
  }
}

void Piggyback::apply(Choices& choices, Picker& picker, Random& random) {
  if (keep_ <= 0 || keep_ >= choices.topk || choices.expert.empty()) return;
  list_active(choices, picker);
  const auto k = static_cast<std::size_t>(choices.topk);
  for (std::size_t row = 0; row < choices.expert.size(); row += k) replace(&choices.expert[row], picker, random);
}

}  // namespace moe
