// Texts and tables that are compared as they are. tests/update-golden rewrites them and shows what changed.
#pragma once
#include <cstdlib>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "temporary.hpp"

namespace moe::test {

inline bool updating_golden() { return std::getenv("MOE_SIM_UPDATE_GOLDEN") != nullptr; }

/// Compares with a file of the repository, or writes it when tests/update-golden runs.
inline void check_golden(const std::string& file, const std::string& text) {
  const std::string path = root() + "/" + file;
  if (updating_golden()) std::ofstream(path) << text;
  INFO(file << " differs; if that is meant: tests/update-golden");
  CHECK(text == read_file(path));
}

}  // namespace moe::test
