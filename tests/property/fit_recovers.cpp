// The fit finds constants that made-up rows were made from; the same folder gives the same bytes on any
// thread count.
#include <cmath>

#include "catch.hpp"
#include "cost/load_profile.hpp"
#include "fit/errors.hpp"
#include "fit/fit_profile.hpp"
#include "fit/least_squares.hpp"
#include "fit/write_profile.hpp"
#include "measured.hpp"

using namespace moe;

namespace {

std::string fitted_text(int threads, const std::vector<Where>& leave_out = {}) {
  const std::string folder = test::measured_folder();
  const Measurements m = read_measurements(folder);
  const Protocol protocol = find_protocol(m, "", "");
  FitOptions options;
  options.threads = threads;
  options.leave_out = leave_out;
  Profile p = fit_profile(m, protocol, test::measured_gpu(), options);
  p.provenance = {"made up"};
  return write_profile(p, "");
}

Profile read_back(const std::string& text) {
  Diagnostics out;
  Profile p;
  std::string gpu;
  const Document document = parse_document(text, "p.yaml", out);
  read_map(document.root, "", out, [&](Fields& f) { bind_profile(f, p, gpu); });
  INFO(out.render());
  REQUIRE_FALSE(out.has_errors());
  p.gpu = test::measured_gpu();
  return p;
}

}  // namespace

TEST_CASE("least squares recovers a line in spite of outliers, inside its bounds", "[property]") {
  Problem problem;
  problem.bounds = {{0.1, 100}, {0.1, 100}};
  std::vector<double> x;
  for (int i = 1; i <= 40; ++i) {
    x.push_back(i);
    problem.ln_us.push_back(std::log(i % 10 == 0 ? 500.0 : 5.0 + 2.0 * i));
    problem.weight.push_back(1);
  }
  problem.model = [&](const std::vector<double>& v, std::vector<double>& ln) {
    for (std::size_t i = 0; i < x.size(); ++i) ln[i] = std::log(v[0] + v[1] * x[i]);
  };
  const Solution s = least_squares(problem, {1, 1}, 60);
  CHECK(s.values[0] == Approx(5).epsilon(0.1));
  CHECK(s.values[1] == Approx(2).epsilon(0.1));
}

TEST_CASE("a fit of made-up rows predicts the held-out shapes and finds the memory bandwidth", "[property]") {
  const Profile p = read_back(fitted_text(2));
  REQUIRE(p.dense_gemm.count("engine-1/kernel/fp8") == 1);
  CHECK(p.dense_gemm.at("engine-1/kernel/fp8").dram_eff == Approx(0.8).epsilon(0.05));
  CHECK(p.dense_gemm.at("engine-1/kernel/fp8").quality.median_pct < 3);
  CHECK(p.elementwise.at("engine-1/cast_fp8").t0_us == Approx(2).epsilon(0.05));
  CHECK(p.inputs.size() == 2);
}

TEST_CASE("the same folder gives the same bytes, whatever the number of threads", "[property]") {
  CHECK(fitted_text(1) == fitted_text(2));
}

TEST_CASE("the summary pools by path, format and bucket, and held-out rows are those of the hash",
          "[property]") {
  const std::string folder = test::measured_folder();
  const Measurements m = read_measurements(folder);
  const Protocol protocol = find_protocol(m, "", "");
  const Profile p = read_back(fitted_text(2));
  const Evaluation all = evaluate_profile(p, m, protocol, Which::all, false, {}, {});
  const Evaluation held = evaluate_profile(p, m, protocol, Which::held_out, false, {}, {});
  const Evaluation fit = evaluate_profile(p, m, protocol, Which::fitted, false, {}, {});
  CHECK(all.rows.size() == 8 * 7 * 8 + 40);
  CHECK(held.rows.size() + fit.rows.size() == all.rows.size());
  CHECK(held.rows.size() > all.rows.size() / 10);
  std::size_t pooled = 0;
  for (const SummaryRow& r : summarise(all))
    if (r.op == "gemm" && r.path == "all" && r.dtype == "fp8") pooled += r.bucket == "all" ? r.rows : 0;
  CHECK(pooled == 8 * 7 * 8);
  const Evaluation narrow = evaluate_profile(p, m, protocol, Which::all, false, {}, {parse_where("n=512")});
  CHECK(narrow.rows.size() == 7 * 8);
}
