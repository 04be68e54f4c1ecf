#include "config/quantity.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace moe {
namespace {

struct Suffix {
  std::string_view text;
  Unit unit;
  double factor;
};

constexpr double kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;

constexpr std::array kSuffixes{
    Suffix{"k", Unit::count, kKi},           Suffix{"K", Unit::count, kKi},
    Suffix{"M", Unit::count, kMi},           Suffix{"%", Unit::share, 0.01},
    Suffix{"B", Unit::bytes, 1},             Suffix{"KB", Unit::bytes, 1e3},
    Suffix{"MB", Unit::bytes, 1e6},          Suffix{"GB", Unit::bytes, 1e9},
    Suffix{"TB", Unit::bytes, 1e12},         Suffix{"KiB", Unit::bytes, kKi},
    Suffix{"MiB", Unit::bytes, kMi},         Suffix{"GiB", Unit::bytes, kGi},
    Suffix{"TiB", Unit::bytes, kTi},         Suffix{"MB/s", Unit::bandwidth, 1e6},
    Suffix{"GB/s", Unit::bandwidth, 1e9},    Suffix{"TB/s", Unit::bandwidth, 1e12},
    Suffix{"GiB/s", Unit::bandwidth, kGi},   Suffix{"Gbit/s", Unit::bandwidth, 1e9 / 8},
    Suffix{"ps", Unit::time, 1e-12},         Suffix{"ns", Unit::time, 1e-9},
    Suffix{"us", Unit::time, 1e-6},          Suffix{"µs", Unit::time, 1e-6},
    Suffix{"ms", Unit::time, 1e-3},          Suffix{"s", Unit::time, 1},
    Suffix{"W", Unit::power, 1},             Suffix{"kW", Unit::power, 1e3},
    Suffix{"USD", Unit::money, 1},           Suffix{"USD/h", Unit::money, 1},
};

std::string_view example(Unit unit) {
  switch (unit) {
    case Unit::bytes: return "96 GiB";
    case Unit::bandwidth: return "56 GB/s";
    case Unit::time: return "0.6 us";
    case Unit::power: return "600 W";
    case Unit::money: return "2.5 USD/h";
    case Unit::share: return "0.9 or 90 %";
    case Unit::count: return "8192 or 8k";
    case Unit::number: return "1.5";
  }
  return "";
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Splits "56 GB/s" into 56 and "GB/s"; false when it does not start with a decimal number.
bool split(std::string_view text, double& number, std::string_view& suffix) {
  text = trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  suffix = trim({end, static_cast<std::size_t>(text.data() + text.size() - end)});
  return std::isfinite(number);
}

Parsed problem(std::string_view text, Unit unit, std::string help) {
  return {0, fmt::format("invalid {} `{}`", name_of(unit), text), std::move(help)};
}

}  // namespace

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::number: return "number";
    case Unit::count: return "count";
    case Unit::share: return "share";
    case Unit::bytes: return "size";
    case Unit::bandwidth: return "bandwidth";
    case Unit::time: return "time";
    case Unit::power: return "power";
    case Unit::money: return "price";
  }
  return "";
}

std::string_view known_units(Unit unit) {
  switch (unit) {
    case Unit::bytes: return "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB";
    case Unit::bandwidth: return "MB/s, GB/s, TB/s, GiB/s, Gbit/s";
    case Unit::time: return "ps, ns, us, ms, s";
    case Unit::power: return "W, kW";
    case Unit::money: return "USD, USD/h";
    case Unit::share: return "none or %";
    case Unit::count: return "none, k, M (1024)";
    case Unit::number: return "";
  }
  return "";
}

Parsed parse_quantity(std::string_view text, Unit unit) {
  double number = 0;
  std::string_view suffix;
  const std::string_view trimmed = trim(text);
  if (!split(text, number, suffix)) return problem(text, unit, fmt::format("write it like `{}`", example(unit)));
  const std::string_view digits = trimmed.substr(trimmed.starts_with('-') || trimmed.starts_with('+') ? 1 : 0);
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
    return problem(text, unit, "drop the leading zero");
  const bool needs_unit = unit == Unit::bytes || unit == Unit::bandwidth || unit == Unit::time ||
                          unit == Unit::power || unit == Unit::money;
  if (suffix == "GT/s")
    return problem(text, unit, "GT/s is a lane signalling rate; give a bandwidth in GB/s");
  if (suffix.empty()) {
    if (needs_unit && number != 0)
      return problem(text, unit, fmt::format("a {} needs a unit, e.g. `{} {}`", name_of(unit), trimmed,
                                             example(unit).substr(example(unit).find(' ') + 1)));
    if (unit == Unit::count && number != std::floor(number)) return problem(text, unit, "a count is a whole number");
    return {number, {}, {}};
  }
  for (const auto& s : kSuffixes)
    if (s.unit == unit && s.text == suffix) {
      if (unit == Unit::count && number * s.factor != std::floor(number * s.factor))
        return problem(text, unit, "a count is a whole number");
      return {number * s.factor, {}, {}};
    }
  return problem(text, unit, known_units(unit).empty()
                                 ? fmt::format("`{}` is not a unit here; write a plain number", suffix)
                                 : fmt::format("known units of a {}: {}", name_of(unit), known_units(unit)));
}

Parsed parse_number(std::string_view text) { return parse_quantity(text, Unit::number); }

}  // namespace moe
