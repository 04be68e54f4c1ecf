// Text for people: shown parts add up, columns line up, numbers have four digits.
#include "base/text.hpp"

#include <numeric>

#include "base/random.hpp"
#include "catch.hpp"

using namespace moe;

TEST_CASE("rounded parts add up to the rounded total", "[unit]") {
  // Three thirds: 0.333 + 0.333 + 0.333 would show 0.999.
  CHECK(rounded_parts({1.0 / 3, 1.0 / 3, 1.0 / 3}, 3) == std::vector<std::string>{"0.334", "0.333", "0.333"});
  CHECK(rounded_parts({0.5, 0.5}, 0) == std::vector<std::string>{"1", "0"});
  CHECK(rounded_parts({}, 1).empty());
  CHECK(rounded_parts({0, 0}, 1) == std::vector<std::string>{"0.0", "0.0"});
}

TEST_CASE("rounded parts of random sums add up and are never off by a whole digit", "[unit]") {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> parts(1 + random.below(14));
    for (double& p : parts) p = random.uniform() * (random.below(3) == 0 ? 1e-3 : 30);
    const auto shown = rounded_parts(parts, 3);
    double sum = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      sum += std::stod(shown[k]);
      REQUIRE(std::abs(std::stod(shown[k]) - parts[k]) < 1e-3 + 1e-9);
    }
    REQUIRE(sum ==
            Approx(std::round(std::accumulate(parts.begin(), parts.end(), 0.0) * 1e3) / 1e3).margin(1e-9));
  }
}

TEST_CASE("numbers show four significant digits", "[unit]") {
  CHECK(significant(26.0806) == "26.08");
  CHECK(significant(0.123456) == "0.1235");
  CHECK(significant(1234.6) == "1235");
  CHECK(significant(9.99961) == "10.00");  // rounding gains a digit before the point
  CHECK(significant(-0.00099996) == "-0.001000");
  CHECK(significant(123456) == "123456");
  CHECK(significant(0) == "0");
}

TEST_CASE("thousands are grouped by blanks", "[unit]") {
  CHECK(grouped(1234567) == "1 234 567");
  CHECK(grouped(999.6) == "1 000");
  CHECK(grouped(-1234) == "-1 234");
  CHECK(grouped(0) == "0");
}

TEST_CASE("columns line up by characters, not by bytes", "[unit]") {
  TextTable t("lr");
  t.row({"a → b", "1"});
  t.row({"x", "12"});
  CHECK(t.render("") == "a → b   1\nx      12\n");
  CHECK(display_width("a → b") == 5);
}

TEST_CASE("a bar has eighths of a column and stays in its width", "[unit]") {
  CHECK(bar(0.5, 4) == "██");
  CHECK(bar(1.0 / 32, 4) == "▏");  // one eighth of one of four columns
  CHECK(bar(0, 4).empty());
  CHECK(display_width(bar(7, 4)) == 4);
}
