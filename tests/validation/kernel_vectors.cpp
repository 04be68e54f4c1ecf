// All 330 test vectors of the prototype (210 grouped experts, 120 dense GEMM), each at the benchmark's footprint and
// cold. They are not part of the project: without their folder beside it the tests say so and pass.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cost/compute.hpp"
#include "validation/rtx_pro_6000.hpp"

using namespace moe;

namespace {

using Record = std::map<std::string, std::string>;

std::vector<Record> read_csv(const std::string& name) {
  std::ifstream in(std::string(MOE_SIM_SOURCE_DIR) + "/../shared/reference/kernels_prototype/" + name);
  std::vector<Record> records;
  std::vector<std::string> header;
  for (std::string line, cell; std::getline(in, line);) {
    std::vector<std::string> cells;
    for (std::istringstream row(line); std::getline(row, cell, ',');) cells.push_back(cell);
    if (header.empty()) {
      header = cells;
      continue;
    }
    Record& record = records.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) record[header[i]] = cells.at(i);
  }
  return records;
}

double number(const Record& r, const std::string& key) { return std::stod(r.at(key)); }
int whole(const Record& r, const std::string& key) { return static_cast<int>(number(r, key)); }

struct Times {
  double warm_us = 0, cold_us = 0;
};

Times gemm_times(const Profile& profile, const Record& r) {
  const DenseGemmPath& path = profile.dense_gemm.at(r.at("path"));
  const auto time_us = [&](double reuse) {
    return dense_gemm(profile.gpu, path, number(r, "m"), number(r, "n"), number(r, "k"), reuse).time_us;
  };
  return {time_us(number(r, "footprint")), time_us(kCold)};
}

Times moe_times(const Profile& profile, const Record& r) {
  const MoePath& path = profile.moe.at(r.at("path"));
  MoeShape shape;
  shape.tokens = number(r, "num_tokens");
  shape.hidden = number(r, "hidden_size");
  shape.intermediate = number(r, "inter_size") / number(r, "moe_tp_size");
  shape.topk = whole(r, "topk");
  shape.experts = whole(r, "num_experts");
  shape.local_experts = whole(r, "num_experts") / whole(r, "moe_ep_size");
  shape.gated = whole(r, "gated") == 2;
  ExpertLoad load;
  load.active = number(r, "A");
  load.rows = number(r, "R");
  load.tokens_here = number(r, "tok");
  int rows = 8;
  for (double& tiles : load.tiles) {
    tiles = number(r, (path.table_rows_clamped ? "Tc" : "T") + std::to_string(rows));
    rows *= 2;
  }
  const double expert_bytes =
      (shape.gated ? 3 : 2) * shape.hidden * shape.intermediate * path.bytes_per_weight * number(r, "U5");
  return {grouped_experts(profile.gpu, path, shape, load, expert_bytes).time_us,
          grouped_experts(profile.gpu, path, shape, load).time_us};
}

/// Every row within 0.1 %; prints the worst. The vectors come from unrounded constants, the profile holds four digits.
template <class TimesOf>
void compare(const std::string& file, std::size_t expected, TimesOf times_of) {
  const std::vector<Record> records = read_csv(file);
  if (records.empty()) {
    std::printf("skipped: %s is not here; the excerpt in kernel_excerpt.cpp was checked\n", file.c_str());
    return;
  }
  const Profile profile = rtx_pro_6000();
  double worst = 0;
  for (const Record& r : records) {
    const Times times = times_of(profile, r);
    const double warm = std::abs(times.warm_us / number(r, "pred") - 1);
    const double cold = std::abs(times.cold_us / number(r, "pred_cold") - 1);
    INFO(r.at("path"));
    CHECK(warm < 1e-3);
    CHECK(cold < 1e-3);
    worst = std::max({worst, warm, cold});
  }
  CHECK(records.size() == expected);
  std::printf("%s: %zu rows, warm and cold, largest deviation %.4f %%\n", file.c_str(), records.size(), 100 * worst);
}

}  // namespace

TEST_CASE("dense GEMM agrees with every test vector", "[validation]") {
  compare("testvectors_gemm_sm120.csv", 120, gemm_times);
}

TEST_CASE("grouped experts agree with every test vector", "[validation]") {
  compare("testvectors_moe_sm120.csv", 210, moe_times);
}
