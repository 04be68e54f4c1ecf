// Runs the built program as a user does.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "temporary.hpp"

namespace moe::test {

struct Ran {
  int code = -1;
  std::string out, err;
};

/// Runs `moe-sim ARGUMENTS` through the shell in the repository's root; `redirect` replaces where stdout
/// goes.
inline Ran moe_sim(const std::string& arguments, const std::string& redirect = {}) {
  const Folder folder;
  const std::string out = redirect.empty() ? folder.path("out") : redirect, err = folder.path("err");
  const std::string command =
      "cd '" + root() + "' && '" MOE_SIM_BINARY "' " + arguments + " >" + out + " 2>" + err + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, redirect.empty() ? read_file(out) : "",
          read_file(err)};
}

}  // namespace moe::test
