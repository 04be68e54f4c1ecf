// Numbers with units become SI base units, and nothing else is a number.
#include "config/quantity.hpp"

#include "catch.hpp"

using namespace moe;

namespace {

double value(std::string_view text, Unit unit) {
  const Parsed p = parse_quantity(text, unit);
  INFO(text << ": " << p.problem);
  CHECK(p.problem.empty());
  return p.value;
}
std::string problem(std::string_view text, Unit unit) { return parse_quantity(text, unit).problem; }
std::string help(std::string_view text, Unit unit) { return parse_quantity(text, unit).help; }

}  // namespace

TEST_CASE("quantities are read in their units", "[unit]") {
  CHECK(value("56 GB/s", Unit::bandwidth) == 56e9);
  CHECK(value("56GB/s", Unit::bandwidth) == 56e9);
  CHECK(value("400 Gbit/s", Unit::bandwidth) == 50e9);
  CHECK(value("1 GiB/s", Unit::bandwidth) == 1073741824.0);
  CHECK(value("0.6 us", Unit::time) == Approx(6e-7));
  CHECK(value("0.6 µs", Unit::time) == Approx(6e-7));
  CHECK(value("2 KiB", Unit::bytes) == 2048);
  CHECK(value("2 KB", Unit::bytes) == 2000);
  CHECK(value("95.6 GiB", Unit::bytes) == Approx(95.6 * 1073741824.0));
  CHECK(value("90 %", Unit::share) == Approx(0.9));
  CHECK(value("0.9", Unit::share) == 0.9);
  CHECK(value("0.6 kW", Unit::power) == Approx(600));
}

TEST_CASE("a k of tokens is 1024, and a count is whole", "[unit]") {
  CHECK(value("8k", Unit::count) == 8192);
  CHECK(value("1.5k", Unit::count) == 1536);
  CHECK(value("1M", Unit::count) == 1048576);
  CHECK(value("1e3", Unit::count) == 1000);
  CHECK(problem("1.5", Unit::count) == "invalid count `1.5`");
  CHECK(help("1.0001k", Unit::count) == "a count is a whole number");
}

TEST_CASE("a missing unit is an error that shows the unit, but zero needs none", "[unit]") {
  CHECK(problem("56", Unit::bandwidth) == "invalid bandwidth `56`");
  CHECK(help("56", Unit::bandwidth) == "a bandwidth needs a unit, e.g. `56 GB/s`");
  CHECK(help("3", Unit::time) == "a time needs a unit, e.g. `3 us`");
  CHECK(value("0", Unit::time) == 0);
}

TEST_CASE("a unit of another kind is an error that lists the right ones", "[unit]") {
  CHECK(help("5 GB", Unit::bandwidth) == "known units of a bandwidth: MB/s, GB/s, TB/s, GiB/s, Gbit/s");
  CHECK(help("5 us", Unit::bytes) == "known units of a size: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB");
  CHECK(help("5 us", Unit::number) == "`us` is not a unit here; write a plain number");
  CHECK(help("32 GT/s", Unit::bandwidth) == "GT/s is a lane signalling rate; give a bandwidth in GB/s");
  CHECK(problem("5 gb/s", Unit::bandwidth) == "invalid bandwidth `5 gb/s`");
}

TEST_CASE("NaN, infinity, hexadecimal, octal and words are not numbers", "[unit]") {
  for (const char* text : {"nan", "NaN", "-nan", "inf", "-inf", ".nan", ".inf", "0x10", "017", "-017", "+-5",
                           "", " ", "many", "1,5", "1_000", "1e999", "--5", "5 5"}) {
    INFO("`" << text << "`");
    CHECK_FALSE(problem(text, Unit::number).empty());
    CHECK_FALSE(problem(text, Unit::count).empty());
  }
}

TEST_CASE("signs and decimals are read as written", "[unit]") {
  CHECK(value("-2.5", Unit::number) == -2.5);
  CHECK(value("+2.5", Unit::number) == 2.5);
  CHECK(value(" 7 ", Unit::number) == 7);
  CHECK(value("0", Unit::number) == 0);
  CHECK(value("0.5", Unit::number) == 0.5);
}
