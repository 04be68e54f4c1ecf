// Shipped machines by name, for tests.
#pragma once
#include <stdexcept>

#include "cost/load_profile.hpp"
#include "machine/load.hpp"
#include "repository.hpp"

namespace moe::test {

/// A file of topologies/; std::runtime_error says what is wrong with it.
inline Machine machine(const std::string& name) {
  Diagnostics d;
  Machine m = load_machine(root() + "/topologies/" + name + ".yaml", d);
  if (d.has_errors()) throw std::runtime_error(d.render());
  return m;
}

/// A machine, its routes and what communication costs on it.
struct Box {
  Machine machine;
  Routes routes;
  CommCost cost;
};

inline Box box(const std::string& name, const std::string& gpu = "rtx-pro-6000") {
  const Machine m = machine(name);
  Diagnostics d;
  const CommCost cost = load_profile(root() + "/calibration/profiles/" + gpu + ".yaml", d).comm;
  if (d.has_errors()) throw std::runtime_error(d.render());
  return {m, Routes(m), cost};
}

}  // namespace moe::test
