// How much is "56 GB/s"? Numbers with units, turned into SI base units (bytes, seconds, bytes per second, watts).
//
//   parse_quantity("56 GB/s", Unit::bandwidth)  ->  56e9
//   parse_quantity("0.6 us", Unit::time)        ->  6e-7
//   parse_quantity("8k", Unit::count)           ->  8192      (k = 1024, the field's use for tokens)
//   parse_quantity("56", Unit::bandwidth)       ->  problem: a bandwidth needs a unit, e.g. `56 GB/s`
#pragma once
#include <string>
#include <string_view>

namespace moe {

/// number: no unit. count: a whole number, k and M (1024) allowed. share: 0.9 or 90 %.
enum class Unit { number, count, share, bytes, bandwidth, time, power, money };

struct Parsed {
  double value = 0;
  std::string problem;  ///< empty: fine; else one sentence, lower case
  std::string help;     ///< what would be right
};

Parsed parse_quantity(std::string_view text, Unit unit);
std::string_view name_of(Unit unit);
/// "GB/s, MB/s, ..." for documentation; empty for a number.
std::string_view known_units(Unit unit);

/// A plain decimal number; no hexadecimal, no octal, no NaN, no infinity.
Parsed parse_number(std::string_view text);

}  // namespace moe
