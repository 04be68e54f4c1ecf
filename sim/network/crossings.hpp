// Who sends where, counted as flows come and go: how many different outputs does an input feed, and at how many of them
// does another input compete?
//
//   Crossings x(2, 3);                              // 2 inputs, 3 outputs
//   x.add(0, 0), x.add(0, 1), x.add(1, 1);
//   x.outputs_of(0) == 2, x.inputs_of(1) == 2;
//   x.contended_of(0) == 1;                         // output 1, which input 1 feeds too
//   x.remove(1, 1);
//   x.contended_of(0) == 0;
//
// add and remove take constant time, except when an output's second input comes or goes: then O(inputs).
// Tested  tests/unit/crossings.cpp
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moe {

class Crossings {
 public:
  Crossings(std::size_t inputs, std::size_t outputs)
      : flows_(inputs * outputs), outputs_of_(inputs), contended_of_(inputs), inputs_of_(outputs) {}

  /// One more flow from an input to an output.
  void add(std::size_t input, std::size_t output) {
    if (flows_[at(input, output)]++ > 0) return;
    ++outputs_of_[input];
    const int inputs = ++inputs_of_[output];
    if (inputs == 2) mark(output, 1);
    if (inputs > 2) ++contended_of_[input];
  }
  /// One that was added is over.
  void remove(std::size_t input, std::size_t output) {
    if (flows_[at(input, output)] == 1) {
      --outputs_of_[input];
      const int inputs = inputs_of_[output]--;
      if (inputs == 2) mark(output, -1);
      if (inputs > 2) --contended_of_[input];
    }
    --flows_[at(input, output)];
  }

  bool joined(std::size_t input, std::size_t output) const { return flows_[at(input, output)] > 0; }
  /// Different outputs that the input feeds.
  int outputs_of(std::size_t input) const { return outputs_of_[input]; }
  /// Different inputs that feed the output.
  int inputs_of(std::size_t output) const { return inputs_of_[output]; }
  /// Of an input's outputs, those with another input.
  int contended_of(std::size_t input) const { return contended_of_[input]; }

 private:
  std::size_t at(std::size_t input, std::size_t output) const { return input * inputs_of_.size() + output; }
  void mark(std::size_t output, int by) {
    for (std::size_t input = 0; input < outputs_of_.size(); ++input)
      if (joined(input, output)) contended_of_[input] += by;
  }

  std::vector<std::uint32_t> flows_;
  std::vector<int> outputs_of_, contended_of_, inputs_of_;
};

}  // namespace moe
