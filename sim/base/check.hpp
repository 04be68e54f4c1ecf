// Three kinds of "no": our bug (InternalError, exit 70), a question without an answer (Infeasible, exit 3),
// and wrong input (config/diagnostic.hpp, exit 2).
#pragma once
#include <stdexcept>
#include <string>

namespace moe {

/// A broken promise inside the program. Never the user's fault.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

/// The question has no answer: the model does not fit, there is no route, or the plan is not simulated yet.
/// `rule` is a stable short id ("memory", "route", "not-simulated-yet"); what() is the sentence for people.
struct Infeasible : std::runtime_error {
  Infeasible(std::string rule_id, const std::string& sentence)
      : std::runtime_error(sentence), rule(std::move(rule_id)) {}
  std::string rule;
};

[[noreturn]] inline void check_failed(const char* condition, const char* must, const char* file, int line) {
  throw InternalError(std::string("internal error: ") + must + " (" + condition + ") at " + file + ":" +
                      std::to_string(line));
}

}  // namespace moe

/// Says what must hold; on in release builds too.
#define MOE_CHECK(condition, must) \
  ((condition) ? void(0) : ::moe::check_failed(#condition, must, __FILE__, __LINE__))
