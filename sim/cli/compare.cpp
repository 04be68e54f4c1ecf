// moe-sim compare A B [C...]: experiments or result.json side by side.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "config/quantity.hpp"
#include "report/compare.hpp"
#include "report/flip.hpp"
#include "report/json.hpp"

namespace moe {
namespace {

bool is_result(const std::string& file) { return file.ends_with(".json"); }

std::string stem(const std::string& file) {
  const std::string base = file.substr(file.find_last_of('/') + 1);
  return base.substr(0, base.rfind(".yaml"));
}

/// Simulates one experiment; a question without an answer is a side too.
Side simulate(const std::string& file, const Overrides& overrides, Diagnostics& warnings) {
  Side none;
  none.name = stem(file);
  none.source = file;
  try {
    const Case c = load_case(file, overrides, warnings);
    read_inputs(inputs_json(c), none);
    EvaluateOptions options;
    options.what_if = false;
    return side_of(to_ordered_json(c, evaluate(c, options)), c.experiment.name, file);
  } catch (const Infeasible& e) {
    none.problem = e.what();
  }
  return none;
}

std::vector<Side> read_all(const CompareArguments& a, const Overrides& overrides, Diagnostics& warnings) {
  std::vector<Side> sides;
  for (const std::string& file : a.files)
    sides.push_back(is_result(file) ? read_side(file) : simulate(file, overrides, warnings));
  make_names_unique(sides);
  return sides;
}

/// As read_all, but what a value makes illegal has no answer there, and the others keep theirs.
std::vector<Side> simulate_legal(const CompareArguments& a, const Overrides& overrides) {
  std::vector<Side> sides;
  for (const std::string& file : a.files) {
    Diagnostics ignored;
    try {
      sides.push_back(simulate(file, overrides, ignored));
    } catch (const InputError& e) {
      Side illegal;
      illegal.name = stem(file);
      illegal.problem = e.diagnostics.all().empty() ? e.what() : e.diagnostics.all().front().message;
      sides.push_back(illegal);
    }
  }
  make_names_unique(sides);
  return sides;
}

/// `--flip` and `--set` need experiments.
void refuse_results(const CompareArguments& a, const char* option) {
  for (const std::string& file : a.files)
    if (is_result(file))
      throw InputError(fmt::format("`{}` simulates again, `{}` is a result\n  = help: give the experiment instead", option, file));
}

Flip flip_of(const CompareArguments& a, const Overrides& overrides) {
  refuse_results(a, "--flip");
  Experiment e;
  std::vector<std::string> known;
  for (const FieldInfo& f : describe([&](Fields& g) { bind_experiment(g, e); })) known.push_back(f.path);
  const FlipAxis axis = parse_flip_axis(a.flip, known);
  return find_flip(axis, [&](double value) {
    Overrides with = overrides;
    with.emplace_back(axis.key, fmt::format("{:.0f}", value));
    return simulate_legal(a, with);
  });
}

double share(const std::string& text) {
  const Parsed p = parse_quantity(text, Unit::share);
  if (!p.problem.empty() || p.value < 0)
    throw InputError(fmt::format("`--fail-if-slower {}`: not a share\n  = help: write it like `--fail-if-slower 2%`", text));
  return p.value;
}

/// 1 when a later run is slower than the first by more than the user allows, 3 when there is nothing to compare.
int exit_code(const std::vector<Side>& sides, double allowed, const Streams& s) {
  int code = kAnswered;
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (!sides[i].answered()) code = kNoAnswer;
  if (code != kAnswered || allowed < 0) return code;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const double slower = 1 / compare(sides, 0, i).ratio - 1;
    if (slower <= allowed) continue;
    s.err << fmt::format("{} is {:.1f} % slower than {}, more than {:g} %\n", sides[i].name, slower * 100, sides[0].name, allowed * 100);
    code = kThreshold;
  }
  return code;
}

}  // namespace

int compare_command(const CompareArguments& a, const Streams& s) {
  if (a.files.size() < 2) throw InputError("`compare` needs two files or more: experiments or result.json");
  const double allowed = a.fail_if_slower.empty() ? -1 : share(a.fail_if_slower);
  const Overrides overrides = split_overrides(a.set);
  if (!a.set.empty()) refuse_results(a, "--set");
  Diagnostics warnings;
  const std::vector<Side> sides = read_all(a, overrides, warnings);
  s.err << warnings.render(false);
  if (const std::string why = incomparable(sides); !why.empty() && !a.anyway)
    throw InputError(fmt::format("these runs have {}\n  = help: `--anyway` compares them all the same", why));
  nlohmann::ordered_json json = comparison_json(sides);
  std::string text = comparison_text(sides);
  if (!a.flip.empty()) {
    const Flip flip = flip_of(a, overrides);
    if (a.json) json["flip"] = flip_json(flip);
    else text += flip_text(flip);
  }
  s.out << (a.json ? json.dump(2) + "\n" : text);
  return exit_code(sides, allowed, s);
}

}  // namespace moe
