// How many rows one M tile of the grouped GEMM holds: each rule just below and at its steps.
#include "catch.hpp"
#include "cost/compute.hpp"

using namespace moe;

namespace {
/// 256 experts, top-8, EP8: 32 local experts; q = tokens/32 rows per expert, q_local = tokens/4.
int rows_of(const std::string& kind, std::vector<double> values, double tokens, double tokens_here = 0) {
  MoeShape shape;
  shape.tokens = tokens;
  shape.topk = 8;
  shape.experts = 256;
  shape.local_experts = 32;
  ExpertLoad load;
  load.tokens_here = tokens_here;
  return tile_rows({kind, std::move(values)}, shape, load);
}
}  // namespace

TEST_CASE("fix ignores the batch", "[analytic]") { CHECK(rows_of("fix", {128}, 1) == 128); }

TEST_CASE("mar takes the smallest tile that mean rows fill to less than its share", "[analytic]") {
  CHECK(rows_of("mar", {0.5}, 127) == 8);    // q just below 4 = 0.5 x 8
  CHECK(rows_of("mar", {0.5}, 128) == 16);   // q = 4 is not below
  CHECK(rows_of("mar", {0.5}, 256) == 32);   // 8
  CHECK(rows_of("mar", {0.5}, 512) == 64);   // 16
}

TEST_CASE("mrl counts over the local experts only", "[analytic]") {
  CHECK(rows_of("mrl", {0.5}, 15) == 8);     // q_local = 3.75
  CHECK(rows_of("mrl", {0.5}, 16) == 16);    // 4
}

TEST_CASE("tri switches above one token per expert, trl above one local token per local expert", "[analytic]") {
  CHECK(rows_of("tri", {16, 64}, 256) == 16);
  CHECK(rows_of("tri", {16, 64}, 257) == 64);
  CHECK(rows_of("trl", {16, 64}, 1000, 32) == 16);
  CHECK(rows_of("trl", {16, 64}, 1000, 33) == 64);
}

TEST_CASE("ada grows with mean rows from its smallest tile, adl with local ones", "[analytic]") {
  CHECK(rows_of("ada", {16, 1.0}, 512) == 16);    // q = 16 still fits 16
  CHECK(rows_of("ada", {16, 1.0}, 513) == 32);
  CHECK(rows_of("ada", {64, 1.0}, 1) == 64);      // never below b0
  CHECK(rows_of("adc", {16, 0.75}, 384) == 16);    // q = 12 <= 12
  CHECK(rows_of("adc", {16, 0.75}, 385) == 32);
  CHECK(rows_of("adc", {16, 0.75}, 8192) == 64);   // never above 64
  CHECK(rows_of("ada", {16, 0.5}, 2048) == 128);  // q = 64 needs 128
  CHECK(rows_of("adl", {16, 1.0}, 64) == 16);     // q_local = 16
  CHECK(rows_of("adl", {16, 1.0}, 65) == 32);
}

TEST_CASE("an unknown rule is our bug, not a number", "[analytic]") {
  CHECK_THROWS(rows_of("foo", {1}, 1));
  CHECK_THROWS(rows_of("fix", {}, 1));
}
