// moe-sim kernel: its figures are those of the cost functions, and a question that is not clear is told what
// is missing.
#include "cli/kernel_ops.hpp"

#include "catch.hpp"
#include "measured.hpp"

using namespace moe;

namespace {
Profile two_paths() {
  Profile p;
  p.gpu = test::measured_gpu();
  p.dense_gemm["a-1/fp8"] = test::known_gemm();
  p.dense_gemm["b-1/fp8"] = test::known_gemm();
  return p;
}
KernelArguments gemm() {
  KernelArguments a;
  a.op = "gemm";
  a.path = "a-1";
  a.sizes = {{"m", 8}, {"n", 4096}, {"k", 7168}};
  return a;
}
std::string message(const KernelArguments& a) {
  try {
    answers(two_paths(), a);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("the kernel verb prints the cold cost of the cost function", "[unit]") {
  const KernelAnswer a = answers(two_paths(), gemm()).front();
  CHECK(a.path == "a-1/fp8");
  CHECK(a.cost.time_us == dense_gemm(test::measured_gpu(), test::known_gemm(), 8, 4096, 7168).time_us);
}

TEST_CASE("a question that several paths answer is answered for each of them", "[unit]") {
  KernelArguments a = gemm();
  a.path = "";
  for (const char* dtype : {"", "fp8"}) {
    a.dtype = dtype;
    const std::vector<KernelAnswer> all = answers(two_paths(), a);
    REQUIRE(all.size() == 2);
    CHECK(all[0].path == "a-1/fp8");
    CHECK(all[1].path == "b-1/fp8");
  }
  a.sizes.erase("m");
  a.sizes["tokens"] = 8;  // tokens stand for the rows of any op
  CHECK(answers(two_paths(), a).front().sizes.at("m") == 8);
}

TEST_CASE("an unclear question to the kernel verb says what is missing", "[unit]") {
  KernelArguments a = gemm();
  a.path = "c-1";
  CHECK(says(message(a), "no kernel path fits"));
  CHECK(says(message(a), "b-1/fp8"));
  a = gemm();
  a.sizes.erase("k");
  CHECK(says(message(a), "`kernel gemm` needs --k"));
  a = gemm();
  a.op = "gem";
  CHECK(says(message(a), "did you mean `gemm`?"));
}

TEST_CASE("sweeps double, multiply, add or list", "[unit]") {
  CHECK(sweep_values("1..8") == std::vector<double>{1, 2, 4, 8});
  CHECK(sweep_values("1..64x4") == std::vector<double>{1, 4, 16, 64});
  CHECK(sweep_values("8..16+4") == std::vector<double>{8, 12, 16});
  CHECK(sweep_values("1,3,5") == std::vector<double>{1, 3, 5});
  CHECK_THROWS_AS(sweep_values("1..x"), InputError);
  CHECK_THROWS_AS(sweep_values("0..8"), InputError);
}
