// Measurement files: what is read, and what a wrong file is told, with file and line.
#include "fit/measurements.hpp"

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "fit/protocol.hpp"

using namespace moe;

namespace {

std::string folder_with(const std::string& file, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "moe-sim-test-reader";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / file) << text;
  return folder.string();
}

/// The message that reading gives, "" when it is read.
std::string message(const std::string& file, const std::string& text) {
  try {
    read_measurements(folder_with(file, text));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kHead = "path,dtype,m,n,k,latency_us\n";

}  // namespace

TEST_CASE("series are told apart by path and format, in any column order", "[unit]") {
  const Measurements m = read_measurements(folder_with(
      "gemm.csv",
      "dtype,path,latency_us,m,n,k\nfp8,a/x,5.5,8,128,256\nfp8,a/y,6,8,128,256\nfp8,a/x,7,16,128,256\n"));
  REQUIRE(m.series.size() == 2);
  CHECK(m.series[0].path == "a/x");
  REQUIRE(m.series[0].points.size() == 2);
  CHECK(m.series[0].points[1].size[0] == 16);
  CHECK(m.series[0].points[1].us == 7);
  CHECK(m.series[0].points[1].line == 4);
  CHECK(m.files[0].rows == 3);
}

TEST_CASE("mistakes are told with file and line", "[unit]") {
  CHECK(says(message("gemm.csv", kHead + "a/x,fp8,8,128,256,fast\n"), "`fast` is not a number"));
  CHECK(says(message("gemm.csv", kHead + "a/x,fp8,8,128,256,fast\n"), "gemm.csv:2:"));
  CHECK(
      says(message("gemm.csv", kHead + "a/x,fp8,8,128,256,5\na/x,fp8,8,128\n"), "4 cells, the header has 6"));
  CHECK(says(message("gemm.csv", kHead + "a/x,fp8,0,128,256,5\n"), "`m` is greater than 0"));
  CHECK(says(message("gemm.csv", kHead + "a/x,fp8,8,128,256,-5\n"), "a latency is greater than 0"));
  CHECK(says(message("gemm.csv", "path,dtype,m,n,latency_us\n"), "the column `k` is missing"));
  CHECK(says(message("gemm.csv", "path,dtype,m,n,kk,latency_us\n"), "did you mean `k`?"));
  CHECK(says(message("other.csv", "x\n"), "no measurements in"));
  const std::string moe_head =
      "path,dtype,tokens,hidden,intermediate,topk,experts,tp,ep,distribution,latency_us\n";
  CHECK(says(message("moe.csv", moe_head + "a,fp8,1,64,64,2,8,1,1,skewed,5\n"),
             "unknown distribution `skewed`"));
}

TEST_CASE("`where` selects rows by columns that exist", "[unit]") {
  const Where w = parse_where("hidden=7168,experts=384");
  Point p;
  p.size = {1, 7168, 2048, 8, 384, 1, 1, 0};
  CHECK(w.matches(Op::moe, p));
  p.size[4] = 256;
  CHECK_FALSE(w.matches(Op::moe, p));
  CHECK_FALSE(w.matches(Op::gemm, p));
  CHECK_THROWS_AS(parse_where("hiden=7168"), InputError);
  CHECK_THROWS_AS(parse_where("hidden"), InputError);
}

TEST_CASE("patterns of a protocol stand for any text", "[unit]") {
  CHECK(fits("sglang-*/marlin*", "sglang-0.5.14/marlin_moe"));
  CHECK_FALSE(fits("sglang-*/marlin", "sglang-0.5.14/marlin_moe"));
  CHECK(fits("*", ""));
}
