// Profile files: what is read, and what a wrong file is told, with its line.
#include "cost/load_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "catch.hpp"

using namespace moe;

namespace {

struct Read {
  Profile profile;
  std::string gpu;
  std::vector<std::string> errors;  ///< "line: message"
  std::vector<std::string> help;
};

/// Reads a profile from text; the GPU's own file is not needed for that.
Read read(const std::string& text) {
  Read result;
  Diagnostics out;
  const Document document = parse_document(text, "p.yaml", out);
  read_map(document.root, "", out, [&](Fields& f) { bind_profile(f, result.profile, result.gpu); });
  for (const Diagnostic& d : out.all()) {
    result.errors.push_back(fmt::format("{}: {}", d.place.line, d.message));
    result.help.push_back(d.help);
  }
  return result;
}

bool says(const Read& r, const std::string& error) {
  return std::find(r.errors.begin(), r.errors.end(), error) != r.errors.end();
}

const std::string kHead = "schema: 1\ngpu: test\nprovenance: [made up]\n";  // lines 1 to 3

/// One dense path on lines 5 to 8 of a file that begins with kHead and `dense_gemm:`.
std::string dense(const std::string& path, const std::string& regimes, const std::string& rest) {
  return "  - {path: " + path +
         ", bytes_per_weight: 1, compute: fp8, t0_us: 3, cq_us_per_Melem: 0.5,\n"
         "     dram_eff: 0.8, l2_tbps: 2, p: 2, wave_quant: 0.5, eps_us: 1, split_k_max: 4, split_k_min_k: 2048,\n"
         "     regimes: [" + regimes + "],\n     " + rest + "}\n";
}
const std::string kRegimes = "{m_max: 16, bm: 16, bn: 64, tau_ns: 5}, {m_max: 512, bm: 64, bn: 64, tau_ns: 6}";
const std::string kErrors = "heldout_err_pct: [3, 12]";

std::string moe_with(const std::string& tile_rule, const std::string& bn) {
  return kHead + "moe:\n  - {path: a, bytes_per_weight: 0.5, bytes_per_activation: 2, compute: bf16,\n"
         "     tile_rule: " + tile_rule + ",\n     bn: " + bn +
         ",\n     t0_us: 1, ck_us: 0, ctok_us: 0, cE_us: 0, cA_us: 0, crow_us_per_MB: 0, dram_eff: 0.8, l2_tbps: 2,\n"
         "     tau0_ns: 1, tau1_ns_per_row: 0, eps_us: 0, p: 2, wave_quant: 0, " + kErrors + "}\n";
}

}  // namespace

TEST_CASE("a dense path is read with its regimes, range, parts and errors", "[unit]") {
  const Read r = read(kHead + "dense_gemm:\n" +
                      dense("x/fp8", kRegimes,
                            kErrors + ", heldout_cold_err_pct: [2, 8], includes: [quantise, gap]," +
                                " range: {m: [1, 512]}"));
  REQUIRE(r.errors.empty());
  CHECK(r.gpu == "test");
  const DenseGemmPath& path = r.profile.dense_gemm.at("x/fp8");
  CHECK(path.compute == ComputeType::fp8);
  CHECK(path.regimes.size() == 2);
  CHECK(path.regimes[1].tau_ns == 6);
  CHECK(path.split_k_min_k == 2048);
  CHECK(path.includes == std::vector<std::string>{"quantise", "gap"});
  CHECK(path.quality.median_pct == 3);
  CHECK(path.quality.cold_p90_pct == 8);
  CHECK(path.quality.range.at("m") == std::pair<double, double>{1, 512});
  CHECK_FALSE(path.quality.assumed);
}

TEST_CASE("all mistakes of a file are reported in one pass, each on its line", "[unit]") {
  const Read r = read(kHead + "dense_gemm:\n" + dense("a", kRegimes, kErrors + ", includes: [quantize]") +
                      dense("b", kRegimes, "range: {mm: [1, 2]}, " + kErrors) + "moee: []\n");
  CHECK(r.errors.size() == 3);
  CHECK(says(r, "8: unknown part `quantize`"));
  CHECK(says(r, "12: unknown key `mm`"));
  CHECK(says(r, "13: unknown key `moee`"));
  CHECK(std::count(r.help.begin(), r.help.end(), "did you mean `quantise`?") == 1);
  CHECK(std::count(r.help.begin(), r.help.end(), "did you mean `moe`?") == 1);
}

TEST_CASE("a path that appears twice points at the first one", "[unit]") {
  const Read r = read(kHead + "dense_gemm:\n" + dense("a", kRegimes, kErrors) + dense("a", kRegimes, kErrors));
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0] == "9: the path `a` appears twice in `dense_gemm`");
  CHECK(r.help[0] == "keep one of the two; the first is on line 5");
}

TEST_CASE("regimes must ascend and be there", "[unit]") {
  const std::string falling = "{m_max: 64, bm: 16, bn: 64, tau_ns: 5}, {m_max: 32, bm: 64, bn: 64, tau_ns: 6}";
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", falling, kErrors)), "7: regimes do not ascend: 32 after 64"));
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", "", kErrors)), "7: `regimes` is empty"));
}

TEST_CASE("constants that cannot be negative, and shares above one, are refused", "[unit]") {
  std::string text = kHead + "dense_gemm:\n" + dense("a", kRegimes, kErrors);
  text.replace(text.find("t0_us: 3"), 8, "t0_us: -3");
  text.replace(text.find("dram_eff: 0.8"), 13, "dram_eff: 1.2");
  const Read r = read(text);
  CHECK(r.errors.size() == 2);
  CHECK(says(r, "5: `-3` is out of range for `t0_us`"));
  CHECK(says(r, "6: `1.2` is out of range for `dram_eff`"));
}

TEST_CASE("a path states its error once: measured or assumed", "[unit]") {
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", kRegimes, "includes: [gap]")),
             "5: a path states its error once"));
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", kRegimes, kErrors + ", assumed_err_pct: [10, 30]")),
             "8: a path states its error once"));
  const Read r = read(kHead + "dense_gemm:\n" + dense("a", kRegimes, "assumed_err_pct: [10, 30], source: a guess"));
  REQUIRE(r.errors.empty());
  CHECK(r.profile.dense_gemm.at("a").quality.assumed);
  CHECK(r.profile.dense_gemm.at("a").quality.p90_pct == 30);
}

TEST_CASE("a 90th percentile below the median and a range with its ends swapped are refused", "[unit]") {
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", kRegimes, "heldout_err_pct: [12, 3]")),
             "8: `heldout_err_pct` is not a median and a 90th percentile"));
  CHECK(says(read(kHead + "dense_gemm:\n" + dense("a", kRegimes, kErrors + ", range: {m: [512, 1]}")),
             "8: `m` is not a range"));
}

TEST_CASE("tile rules: known kind, right count, sizes that kernels have", "[unit]") {
  CHECK(read(moe_with("[tri, 16, 64]", "[64, 128]")).errors.empty());
  CHECK(read(moe_with("[mrl, 0.9]", "[64, 128]")).profile.moe.at("a").tile.values == std::vector<double>{0.9});
  CHECK(says(read(moe_with("[trx, 16, 64]", "[64, 128]")), "6: unknown tile rule `trx`"));
  CHECK(says(read(moe_with("[tri, 16]", "[64, 128]")), "6: the tile rule `tri` takes two numbers"));
  CHECK(says(read(moe_with("[fix, 24]", "[64, 128]")), "6: `24` does not fit the tile rule `fix`"));
  CHECK(says(read(moe_with("[mar, 0]", "[64, 128]")), "6: `0` does not fit the tile rule `mar`"));
  CHECK(says(read(moe_with("[fix, many]", "[64, 128]")), "6: invalid number `many`"));
  CHECK(says(read(moe_with("[fix, 64]", "[64]")), "7: `bn` has two entries, one for each GEMM"));
}

TEST_CASE("a split rule that no kernel has is refused with the known ones", "[unit]") {
  const Read r = read(kHead +
                      "attention_decode:\n  - {path: a, head_tile: 16, max_splits: 8, min_chunk: 64, ctas_per_sm: 1,\n"
                      "     t0_us: 5, cq_us_per_MB: 0, reduce_us: 0, dram_eff: 0.8, l2_tbps: 2, tau_us_per_token: 0,\n"
                      "     eps_us: 0, p: 2, wave_quant: 0, split_rule: triton_mla, " + kErrors + "}\n");
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0] == "7: unknown value `triton_mla` for `split_rule`");
}

TEST_CASE("work without a unit is refused", "[unit]") {
  const Read r = read(kHead + "elementwise_and_state:\n"
                              "  - {path: a, t0_us: 1, c_us: 2, dram_eff: 0.8, l2_tbps: 2, p: 2,\n"
                              "     bytes_of: everything, " + kErrors + "}\n");
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0] == "5: `c_us` without `x_unit`");
}

TEST_CASE("a GPU without a file is named at its key, and a missing profile is said once", "[unit]") {
  const auto file = std::filesystem::temp_directory_path() / "moe-sim-test-profile.yaml";
  std::ofstream(file) << kHead;
  Diagnostics out;
  load_profile(file.string(), out);
  std::filesystem::remove(file);
  REQUIRE(out.error_count() == 1);
  CHECK(out.all()[0].message == "no GPU called `test`");
  CHECK(out.all()[0].place.line == 2);

  Diagnostics missing;
  load_profile(file.string(), missing);
  CHECK(missing.error_count() == 1);
}

TEST_CASE("a file of another format version is refused", "[unit]") {
  CHECK(says(read("schema: 2\ngpu: test\nprovenance: [made up]\n"), "1: `2` is out of range for `schema`"));
}

TEST_CASE("every shipped profile loads, and every path has a spread", "[unit]") {
  for (const std::string name : {"rtx-pro-6000", "h200"}) {
    Diagnostics out;
    const Profile p = load_profile(std::string(MOE_SIM_SOURCE_DIR) + "/calibration/profiles/" + name + ".yaml", out);
    INFO(out.render());
    CHECK_FALSE(out.has_errors());
    CHECK(p.name == name);
    CHECK(p.gpu.sm > 0);
    const auto spreads = [](const auto& paths) {
      return std::all_of(paths.begin(), paths.end(), [](const auto& e) { return e.second.quality.p90_pct > 0; });
    };
    CHECK(spreads(p.dense_gemm));
    CHECK(spreads(p.moe));
    CHECK(spreads(p.attention));
    CHECK(spreads(p.elementwise));
  }
}
