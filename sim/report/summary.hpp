// The answer for people, as a terminal shows it (sample: README).
#pragma once
#include <string>

#include "report/result.hpp"

namespace moe {

struct TextStyle {
  bool colour = false;      ///< only on a terminal
  std::size_t links = 3;    ///< rows of the link table; 0: all
};

std::string summary(const Case& c, const Result& r, const TextStyle& style);

}  // namespace moe
