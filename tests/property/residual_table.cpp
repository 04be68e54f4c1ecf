// Residual tables: exact at their points, gone far from them, read back as written, and refused where they do
// not help.
#include "cost/residuals.hpp"

#include <cmath>

#include "base/random.hpp"
#include "catch.hpp"
#include "fit/residual_fit.hpp"
#include "measured.hpp"

using namespace moe;

namespace {
ResidualTable one_point() {
  ResidualTable t;
  t.axes = residual_axes("dense_gemm");
  t.weights = {1, 1, 1, 2};
  t.reach = 1;
  t.where = {{3, 12, 12, 0}};
  t.value = {0.1};
  return t;
}

/// Samples of one path: shapes over a grid, m = 1..512; `error(sample)` is ln(measured/model).
template <class Error>
std::pair<std::vector<Sample>, std::vector<double>> rows_with(Error error) {
  std::vector<Sample> samples;
  std::vector<double> errors;
  for (int n = 7; n < 15; ++n)
    for (int k = 7; k < 15; ++k)
      for (int m = 0; m < 10; ++m) {
        Sample s;
        s.a = std::exp2(m), s.b = std::exp2(n), s.c = std::exp2(k), s.us = 1, s.reuse_bytes = kCold;
        s.shape = fnv1a(static_cast<std::uint64_t>(n * 100 + k), kFnvOffset);
        samples.push_back(s);
        errors.push_back(error(m, n, k));
      }
  return {samples, errors};
}
}  // namespace

TEST_CASE("a table corrects its points, fades with distance, and an empty one does nothing", "[property]") {
  const ResidualTable t = one_point();
  CHECK(t.factor({3, 12, 12, 0}) == Approx(std::exp(0.1)));
  CHECK(t.factor({4, 12, 12, 0}) == Approx(std::exp(0.1 * std::exp(-1.0))));
  CHECK(t.factor({9, 12, 12, 0}) == Approx(1).margin(1e-9));
  CHECK(ResidualTable{}.factor({3, 12, 12, 0}) == 1);
}

TEST_CASE("a correction lies between the extremes of its points", "[property]") {
  Random random(7);
  ResidualTable t = one_point();
  for (int i = 0; i < 40; ++i) {
    t.where.push_back({10 * random.uniform(), 16 * random.uniform(), 16 * random.uniform(), 0});
    t.value.push_back(0.4 * random.uniform() - 0.2);
  }
  for (int i = 0; i < 200; ++i) {
    const double ln =
        std::log(t.factor({10 * random.uniform(), 16 * random.uniform(), 16 * random.uniform(), 0}));
    CHECK(std::abs(ln) <= 0.2 + 1e-12);
  }
}

TEST_CASE("a smooth error is learnt within the budget, noise is not", "[property]") {
  const auto [samples, smooth] =
      rows_with([](int m, int n, int) { return 0.15 * std::sin(0.5 * m) + 0.1 * (n > 10 ? 1 : -1); });
  Rows rows;
  for (const Sample& s : samples) rows.push_back(&s);
  const ResidualTable t = fit_residuals(test::measured_gpu(), "dense_gemm", rows, smooth, 100);
  CHECK(t.value.size() == 100);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    before += std::abs(smooth[i]);
    after += std::abs(smooth[i] - std::log(t.factor(axes_of(test::measured_gpu(), "dense_gemm", *rows[i]))));
  }
  CHECK(after < 0.5 * before);
  Random random(3);
  std::vector<double> noise;
  for (std::size_t i = 0; i < rows.size(); ++i) noise.push_back(0.05 * random.normal());
  CHECK(fit_residuals(test::measured_gpu(), "dense_gemm", rows, noise, 100).empty());
}
