// What would help? The same step, simulated again with one change. Blame is not benefit: what owns much of the step
// may hide something that is next in line.
#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"
#include "config/diagnostic.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

constexpr double kShown = 0.02;  // categories below 2 % of the step are not worth a question

std::string plain(std::string_view category) {
  std::string text(category);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool is_compute(Category c) {
  return c != Category::all_reduce && c != Category::all_to_all && c != Category::all_gather &&
         c != Category::pipeline && c != Category::host;
}

void add_requested(const Case& c, const WhatIfRequest& request, Result& r) {
  WhatIf w{request.name, 0, {}};
  try {
    Tweaks tweaks;
    for (const auto& [key, factor] : request.faster) {
      const auto category = std::find(kCategoryNames.begin(), kCategoryNames.end(), key);
      if (category != kCategoryNames.end()) tweaks.faster[static_cast<std::size_t>(category - kCategoryNames.begin())] = factor;
      else if (key == "memory") tweaks.memory = factor;
      else if (key == "links") tweaks.links = factor;
      else throw Infeasible("what-if", fmt::format("`{}` is no category, `memory` or `links`", key));
    }
    Diagnostics warnings;
    Overrides overrides = c.overrides;
    overrides.insert(overrides.end(), request.set.begin(), request.set.end());
    w.step_ms = request.set.empty() ? step_ms(c, tweaks)
                                    : step_ms(load_case(c.experiment.file, overrides, warnings), tweaks);
  } catch (const InputError& e) {
    w.problem = e.diagnostics.all().empty() ? e.what() : e.diagnostics.all().front().message;
  } catch (const Infeasible& e) {
    w.problem = e.what();
  }
  r.what_if.push_back(std::move(w));
}

}  // namespace

void add_what_ifs(const Case& c, Result& r) {
  for (std::size_t i = 0; i < kCategoryNames.size(); ++i) {
    if (r.breakdown_ms[i] < kShown * r.step_ms) continue;
    Tweaks t;
    t.faster[i] = 2;
    r.what_if.push_back({plain(kCategoryNames[i]) + " twice as fast", step_ms(c, t), {}});
  }
  Tweaks memory, links, compute;
  for (std::size_t i = 0; i < kCategoryNames.size(); ++i) compute.faster[i] = is_compute(static_cast<Category>(i)) ? 2 : 1;
  r.what_if.push_back({"all compute twice as fast", step_ms(c, compute), {}});
  memory.memory = 2;
  links.links = 2;
  r.what_if.push_back({"GPU memory twice as fast", step_ms(c, memory), {}});
  if (c.experiment.plan.gpus() > 1) {
    r.what_if.push_back({"links twice as fast", step_ms(c, links), {}});
    r.what_if.push_back({"no sharing at all", step_ms(c, {}, Sharing::alone), {}});
  }
  std::stable_sort(r.what_if.begin(), r.what_if.end(), [](auto& a, auto& b) { return a.step_ms < b.step_ms; });
  for (const WhatIfRequest& request : c.experiment.what_if) add_requested(c, request, r);
}

}  // namespace moe
