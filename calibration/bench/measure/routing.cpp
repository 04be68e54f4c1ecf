#include "measure/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace moe::bench {
namespace {

/// Gives (step 1) or takes (-1) rows, one rank after the other: to its least, from its most loaded expert.
void hand_out(std::vector<long>& rows, const RoutingRule& r, long count, long step) {
  const int local = r.experts / r.ep;
  for (bool moved = true; count > 0 && moved;) {
    moved = false;
    for (int rank = 0; rank < r.ep && count > 0; ++rank) {
      long* best = nullptr;
      for (int i = rank * local; i < (rank + 1) * local; ++i) {
        long& n = rows[static_cast<std::size_t>(i)];
        const bool possible = step > 0 ? n < r.tokens : n > 0;
        if (possible && (best == nullptr || (step > 0 ? n < *best : n > *best))) best = &n;
      }
      if (best == nullptr) continue;
      *best += step;
      --count;
      moved = true;
    }
  }
}

/// Rows by popularity of a power law, rounded and clamped to the number of tokens; they sum to tokens x topk.
std::vector<long> power_law_rows(const RoutingRule& r, std::mt19937_64& random) {
  const long target = static_cast<long>(r.tokens) * r.topk;
  const bool many = target > r.experts;
  const double low = many ? 1 : 0.01, high = many ? r.tokens * 0.8 : 2, a = 1 - r.alpha;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> popularity(static_cast<std::size_t>(r.experts));
  for (double& p : popularity)
    p = std::pow((std::pow(high, a) - std::pow(low, a)) * uniform(random) + std::pow(low, a), 1 / a);
  const double sum = std::accumulate(popularity.begin(), popularity.end(), 0.0);
  std::vector<long> rows(popularity.size());
  long clamped = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const long wanted = std::lround(popularity[i] / sum * static_cast<double>(target));
    rows[i] = std::min<long>(wanted, r.tokens);
    clamped += wanted - rows[i];
  }
  hand_out(rows, r, clamped, 1);
  const long total = std::accumulate(rows.begin(), rows.end(), 0L);
  hand_out(rows, r, std::abs(target - total), total < target ? 1 : -1);
  return rows;
}

/// The rank with most rows changes place with rank 0.
void heaviest_first(std::vector<long>& rows, int ep) {
  const auto local = static_cast<std::ptrdiff_t>(rows.size()) / ep;
  std::ptrdiff_t best = 0;
  long most = -1;
  for (int rank = 0; rank < ep; ++rank) {
    const long sum = std::accumulate(rows.begin() + rank * local, rows.begin() + (rank + 1) * local, 0L);
    if (sum > most) best = rank;
    most = std::max(most, sum);
  }
  if (best > 0) std::swap_ranges(rows.begin(), rows.begin() + local, rows.begin() + best * local);
}

/// Experts by falling rows fill a (topk, tokens) array row by row.
std::vector<int> by_rows(const std::vector<long>& rows, const RoutingRule& r) {
  std::vector<int> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return rows[static_cast<std::size_t>(x)] > rows[static_cast<std::size_t>(y)];
  });
  std::vector<int> out(static_cast<std::size_t>(r.tokens) * static_cast<std::size_t>(r.topk));
  std::size_t slot = 0;
  for (const int e : order)
    for (long q = 0; q < rows[static_cast<std::size_t>(e)]; ++q, ++slot) {
      const std::size_t token = slot % static_cast<std::size_t>(r.tokens), j = slot / static_cast<std::size_t>(r.tokens);
      out[token * static_cast<std::size_t>(r.topk) + j] = e;
    }
  return out;
}

std::vector<int> balanced(const RoutingRule& r) {
  std::vector<int> out;
  const int stride = (r.experts + r.topk - 1) / r.topk;
  for (int t = 0; t < r.tokens; ++t)
    for (int j = 0; j < r.topk; ++j) {
      const double start = r.tokens >= stride ? t : static_cast<double>(t) * stride / r.tokens;
      out.push_back(static_cast<int>(std::fmod(start + static_cast<double>(j) * stride, r.experts)));
    }
  return out;
}

}  // namespace

std::vector<int> choices(const RoutingRule& r, std::mt19937_64& random) {
  std::vector<int> out;
  if (r.alpha > 0) {
    std::vector<long> rows = power_law_rows(r, random);
    heaviest_first(rows, r.ep);
    out = by_rows(rows, r);
  } else {
    out = balanced(r);
  }
  std::vector<int> name(static_cast<std::size_t>(r.experts));
  std::iota(name.begin(), name.end(), 0);
  const int local = r.experts / r.ep;
  for (int rank = 0; rank < r.ep; ++rank)
    std::shuffle(name.begin() + rank * local, name.begin() + (rank + 1) * local, random);
  for (int& e : out) e = name[static_cast<std::size_t>(e)];
  return out;
}

}  // namespace moe::bench
