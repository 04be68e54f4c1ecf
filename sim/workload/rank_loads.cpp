#include "workload/rank_loads.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace moe {
namespace {

class Dealer {
 public:
  Dealer(const ExpertMap& map, std::size_t sources, int topk)
      : map_(map), topk_(topk), next_(map.copies.size()), seen_(map.held.size(), -1) {
    for (const auto& held : map.held) loads_.rows.emplace_back(held.size());
    loads_.tokens_here.resize(map.held.size());
    loads_.tokens_between.assign(sources, std::vector<int>(map.held.size()));
  }

  void deal(std::size_t source, const std::uint32_t* experts) {
    ++token_;
    std::vector<int>& sent = loads_.tokens_between[source];
    for (int i = 0; i < topk_; ++i) {
      const auto& copies = map_.copies[experts[i]];
      std::size_t copy = 0;
      if (copies.size() > 1) {
        copy = next_[experts[i]]++;
        if (next_[experts[i]] == copies.size()) next_[experts[i]] = 0;
      }
      const auto rank = static_cast<std::size_t>(copies[copy].rank);
      ++loads_.rows[rank][static_cast<std::size_t>(copies[copy].slot)];
      if (seen_[rank] == token_) continue;
      seen_[rank] = token_;
      loads_.tokens_here[rank] += 1;
      ++sent[rank];
    }
  }

  RankLoads take() { return std::move(loads_); }

 private:
  const ExpertMap& map_;
  int topk_;
  std::vector<std::size_t> next_;  ///< [expert]: copy that gets the next row
  std::vector<int> seen_;          ///< [rank]: last token that goes there
  int token_ = 0;
  RankLoads loads_;
};

}  // namespace

int RankLoads::rows_of(int rank) const {
  const auto& r = rows[static_cast<std::size_t>(rank)];
  return std::accumulate(r.begin(), r.end(), 0);
}

int RankLoads::touched(int rank) const {
  const auto& r = rows[static_cast<std::size_t>(rank)];
  return static_cast<int>(std::count_if(r.begin(), r.end(), [](int n) { return n > 0; }));
}

int RankLoads::max_rows() const {
  int most = 0;
  for (int r = 0; r < static_cast<int>(rows.size()); ++r) most = std::max(most, rows_of(r));
  return most;
}

RankLoads rank_loads(const Choices& choices, const std::vector<Source>& sources, const ExpertMap& map) {
  int tokens = 0, padding = 0;
  for (const Source& s : sources) tokens += s.tokens, padding += s.padding;
  MOE_CHECK(tokens == choices.tokens && padding == choices.padding, "the sources must hold the rows of the batch");
  Dealer dealer(map, sources.size(), choices.topk);
  int token = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (int i = 0; i < sources[s].tokens; ++i) dealer.deal(s, choices.of(token++));
    for (int i = 0; i < sources[s].padding; ++i) dealer.deal(s, choices.of(choices.tokens));
  }
  return dealer.take();
}

}  // namespace moe
