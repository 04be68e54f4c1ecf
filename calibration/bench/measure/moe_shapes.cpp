#include "measure/moe_shapes.hpp"

#include <cmath>

#include "measure/grid.hpp"

namespace moe::bench {
namespace {

/// Styles: many small experts (2k to 7k wide, 768 to 2304 inside), middling ones, few large ones.
std::vector<ExpertGeometry> geometries() {
  constexpr int kMany = 60, kFew = 30;
  constexpr int kExperts[] = {80, 96, 144, 192, 240, 288, 320, 416, 512}, kTopk[] = {4, 6, 8, 8, 10};
  constexpr int kFewExperts[] = {8, 12, 16, 24, 32, 40, 8, 10};
  std::vector<ExpertGeometry> all;
  for (int i = 0; i < kMany; ++i) {
    // One GPU of 1, 2, 4 or 8, by tensor or by expert.
    const int gpus = 1 << (i % 4), ep = i / 4 % 3 == 2 ? gpus : 1, tp = gpus / ep;
    const int hidden = log_between(halton(i, 2), 2048, 7680, 128);
    const int share = 64 * static_cast<int>(std::lround(std::pow(2.0, 1 + 3.2 * halton(i, 3)) * (ep > 1 ? 2 : 1)));
    const int inside = std::min(share, 2304) * tp > 2560 && tp > 1 ? 64 * (2560 / 64 / tp) * tp : std::min(share, 2304) * tp;
    all.push_back({hidden, inside, kTopk[i % 5], kExperts[(i * 5) % 9] / ep * ep, tp, ep});
  }
  for (int i = 0; i < kFew; ++i) {
    // Up to sixteen experts may be as wide as a dense block (Mixtral: 14336).
    const int tp = i % 2 == 0 ? 8 : 4, widest = kFewExperts[i % 8] <= 16 ? 15360 : 2304;
    all.push_back({log_between(halton(i, 2), 2560, 6656, 128), log_between(halton(i, 3), 512, widest, 64) * tp, 1 + i % 4,
                   kFewExperts[i % 8], tp, 1});
  }
  return all;
}

}  // namespace

std::vector<MoePoint> moe_points(bool quick) {
  constexpr int kTokens[2][9] = {{1, 2, 4, 8, 24, 48, 96, 192, 512}, {1, 3, 6, 16, 32, 64, 128, 256, 384}};
  const std::vector<ExpertGeometry> all = geometries();
  std::vector<MoePoint> points;
  for (const Format f : {Format::bf16, Format::fp8, Format::int4})
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (quick && i % 12 != 0) continue;
      for (std::size_t t = 0; t < 9; ++t)
        for (const double alpha : {0.0, 1.2})
          if (!quick || (t % 3 == 0 && alpha == 0)) points.push_back({f, all[i], kTokens[i % 2][t], alpha});
    }
  return points;
}

}  // namespace moe::bench
