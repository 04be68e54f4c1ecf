// Which values does a study take? One axis is one experiment key with its values; keys that go together are zipped.
//
//   plan.tp=1,2,4,8              1, 2, 4, 8
//   batch.sequences=1..256x2     1, 2, 4, 8, 16, 32, 64, 128, 256
//   context=1k..64kx4            1k, 4k, 16k, 64k        (k = 1024; the last component alone, where unambiguous)
//   steps=1..9+4                 1, 5, 9
//   machine=a,b;profile=p,q      (a, p), (b, q)          zipped: the first values together, then the second
//   gpus=[0,1],[2,3]             [0,1] and [2,3]
//
// In a file the same: `sweep: {plan.tp: [1, 2, 4, 8], context: 1k..64kx4, zip: [{machine: [a, b], profile: [p, q]}]}`.
#pragma once
#include <string>
#include <vector>

#include "config/document.hpp"

namespace moe {

struct Axis {
  std::vector<std::string> keys;                 ///< dotted; more than one: zipped
  std::vector<std::vector<std::string>> values;  ///< one row per step of the axis, one value per key
  std::string name() const;                      ///< keys joined by `;`
};

/// "1..256x2" or "a,b,c" as texts. Throws InputError with what would be right.
std::vector<std::string> expand_values(const std::string& text);

/// The key that `word` stands for among `known`: itself, the only one that ends in `.word`, or the alias `batch`.
/// `stack.` keys need no full list. Throws InputError with a suggestion, or with the candidates when ambiguous.
std::string full_key(const std::string& word, const std::vector<std::string>& known);

/// One `--axis` argument.
Axis parse_axis(const std::string& text, const std::vector<std::string>& known);
/// The `sweep:` map of an experiment file, crossed axes in file order.
std::vector<Axis> axes_of(const Node& sweep, const std::vector<std::string>& known);

/// Every dotted key that an axis may name: experiment keys, and those of the stack behind `stack.`.
std::vector<std::string> sweepable_keys();

}  // namespace moe
