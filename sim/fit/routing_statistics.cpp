#include "fit/routing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace moe {
namespace {

constexpr int kDraws = 20, kGroup = 5;

struct Draw {
  std::vector<long> rows;  ///< per expert of the layer
  double tokens_here = 0;  ///< tokens with an expert on rank 0
};

Draw balanced(const RoutingKey& k) {
  Draw d{std::vector<long>(static_cast<std::size_t>(k.experts)), 0};
  const int local = k.experts / k.ep, stride = (k.experts + k.topk - 1) / k.topk;
  for (int t = 0; t < k.tokens; ++t) {
    bool here = false;
    for (int j = 0; j < k.topk; ++j) {
      const double start = k.tokens >= stride ? t : static_cast<double>(t) * stride / k.tokens;
      const int expert = static_cast<int>(std::fmod(start + static_cast<double>(j) * stride, k.experts));
      ++d.rows[static_cast<std::size_t>(expert)];
      here = here || expert < local;
    }
    d.tokens_here += here ? 1 : 0;
  }
  return d;
}

/// Gives (+1) or takes (-1) `count` rows, one rank after the other: gives to its least, takes from its most
/// loaded one.
void hand_out(std::vector<long>& rows, const RoutingKey& k, long count, long step) {
  const int local = k.experts / k.ep;
  for (bool moved = true; count > 0 && moved;) {
    moved = false;
    for (int rank = 0; rank < k.ep && count > 0; ++rank) {
      long* best = nullptr;
      for (int i = rank * local; i < (rank + 1) * local; ++i) {
        long& r = rows[static_cast<std::size_t>(i)];
        const bool possible = step > 0 ? r < k.tokens : r > 0;
        if (possible && (best == nullptr || (step > 0 ? r < *best : r > *best))) best = &r;
      }
      if (best == nullptr) continue;
      *best += step;
      --count;
      moved = true;
    }
  }
}

/// Rows by popularity, rounded and clamped; sums to tokens x topk.
std::vector<long> power_law_rows(const RoutingKey& k, Random& random) {
  const bool many = static_cast<long>(k.tokens) * k.topk > k.experts;
  const double low = many ? 1 : 0.01, high = many ? k.tokens * 0.8 : 2, a = 1 - k.alpha;
  std::vector<double> popularity(static_cast<std::size_t>(k.experts));
  for (double& p : popularity)
    p = std::pow((std::pow(high, a) - std::pow(low, a)) * random.uniform() + std::pow(low, a), 1 / a);
  const double sum = std::accumulate(popularity.begin(), popularity.end(), 0.0);
  const long target = static_cast<long>(k.tokens) * k.topk;
  std::vector<long> rows(popularity.size());
  long clamped = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const long wanted = std::lround(popularity[i] / sum * static_cast<double>(target));
    rows[i] = std::min<long>(wanted, k.tokens);
    clamped += wanted - rows[i];
  }
  hand_out(rows, k, clamped, 1);
  for (const long r : rows) total += r;
  hand_out(rows, k, std::abs(target - total), total < target ? 1 : -1);
  return rows;
}

/// The rank with most rows changes place with rank 0.
void heaviest_first(std::vector<long>& rows, int ep) {
  const auto local = static_cast<std::ptrdiff_t>(rows.size()) / ep;
  long most = -1;
  std::ptrdiff_t best = 0;
  for (int rank = 0; rank < ep; ++rank) {
    const long sum = std::accumulate(rows.begin() + rank * local, rows.begin() + (rank + 1) * local, 0L);
    if (sum > most) best = rank;
    most = std::max(most, sum);
  }
  if (best > 0) std::swap_ranges(rows.begin(), rows.begin() + local, rows.begin() + best * local);
}

/// Tokens with a local expert: experts by falling count fill a (topk, tokens) array row by row.
double tokens_here(const std::vector<long>& rows, const RoutingKey& k) {
  if (k.ep == 1) return k.tokens;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return rows[x] > rows[y]; });
  std::vector<bool> here(static_cast<std::size_t>(k.tokens));
  long slot = 0;
  for (const std::size_t e : order)
    for (long q = 0; q < rows[e]; ++q, ++slot)
      if (e < rows.size() / static_cast<std::size_t>(k.ep))
        here[static_cast<std::size_t>(slot % k.tokens)] = true;
  return static_cast<double>(std::count(here.begin(), here.end(), true));
}

Draw power_law(const RoutingKey& k, Random& random) {
  Draw d{power_law_rows(k, random), 0};
  heaviest_first(d.rows, k.ep);
  d.tokens_here = tokens_here(d.rows, k);
  return d;
}

void add(RoutingStatistics& s, const Draw& d, const RoutingKey& k, double weight) {
  const std::vector<int> local(d.rows.begin(), d.rows.begin() + k.experts / k.ep);
  const ExpertLoad load = load_of(local, d.tokens_here);
  std::vector<int> folded = local;
  folded[0] += static_cast<int>(std::max(0.0, d.tokens_here * k.topk - load.rows));
  const ExpertLoad clamped = load_of(folded, d.tokens_here);
  s.load.active += weight * load.active;
  s.load.rows += weight * load.rows;
  s.load.tokens_here += weight * load.tokens_here;
  for (int i = 0; i < 6; ++i) {
    s.load.tiles[i] += weight * load.tiles[i];
    s.clamped_tiles[i] += weight * clamped.tiles[i];
  }
}

}  // namespace

RoutingStatistics routing_statistics(const RoutingKey& k) {
  RoutingStatistics s;
  if (k.alpha <= 0) {
    add(s, balanced(k), k, 1);
    s.union5 = s.load.active;
    return s;
  }
  Random random(0x6d6f65ULL + static_cast<std::uint64_t>(k.tokens) * 1000003 +
                static_cast<std::uint64_t>(k.experts) * 7919 + static_cast<std::uint64_t>(k.topk) * 131 +
                static_cast<std::uint64_t>(k.ep));
  std::vector<bool> touched;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Draw d = power_law(k, random);
    add(s, d, k, 1.0 / kDraws);
    if (draw % kGroup == 0) touched.assign(static_cast<std::size_t>(k.experts / k.ep), false);
    for (std::size_t i = 0; i < touched.size(); ++i) touched[i] = touched[i] || d.rows[i] > 0;
    if ((draw + 1) % kGroup == 0)
      s.union5 += static_cast<double>(std::count(touched.begin(), touched.end(), true)) * kGroup / kDraws;
  }
  return s;
}

}  // namespace moe
