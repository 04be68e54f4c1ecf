// At which value of a key does the ranking flip? Doublings over the range, then bisection where the leader changes.
//
//   batch.sequences       tp8       ep8   faster
//                 1   17.0 ms   19.2 ms   tp8
//                64   60.1 ms   48.7 ms   ep8
//   The fastest changes from tp8 to ep8 at batch.sequences 23.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <functional>
#include <string>
#include <vector>

#include "report/side.hpp"

namespace moe {

/// `batch=1..512`: whole numbers from first to last of one experiment key.
struct FlipAxis {
  std::string key;
  double first = 1, last = 1;
};
/// `known`: dotted keys of an experiment. A last component stands for its key where it is unambiguous, `batch` for
/// batch.sequences; `stack.…` is passed on. Throws InputError.
FlipAxis parse_flip_axis(const std::string& text, const std::vector<std::string>& known);

struct FlipPoint {
  double value = 0;
  std::vector<Side> sides;   ///< one per experiment; those without an answer say why
  int leader = -1;           ///< most tokens/s; -1: nobody has an answer
};
struct Crossing {
  double before = 0, after = 0;  ///< neighbours that were simulated; adjacent whole numbers unless `open`
  int from = -1, to = -1;
  bool open = false;             ///< values between have no answer, or the range is too fine to matter
};
struct Flip {
  std::string key;
  std::vector<FlipPoint> points;   ///< the doublings
  std::vector<Crossing> crossings;
};

using EvaluateAt = std::function<std::vector<Side>(double value)>;
Flip find_flip(const FlipAxis& axis, const EvaluateAt& evaluate);

std::string flip_text(const Flip& flip);
nlohmann::ordered_json flip_json(const Flip& flip);

}  // namespace moe
