#include "experiment/bind_routing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash.hpp"
#include "workload/recorded.hpp"

namespace moe {
namespace {

using Kind = Routing::Kind;

const std::vector<std::string> kKinds{"uniform", "power_law", "histogram", "trace"};

void bind_similarity(Fields& g, Routing& r) {
  std::vector<double> s{r.similarity};
  g.numbers("similarity", s, Unit::share, Need::optional, Range::between(0, 0.99),
            "correlation of router scores between sequences; [value, high] widens the interval up to `high`");
  if (s.size() > 2 || s.empty()) g.error("similarity", "`similarity` is one number, or [value, high]");
  else r.similarity = s[0], r.similarity_high = s.size() == 2 ? s[1] : -1;
  if (s.size() == 2 && s[1] < s[0]) g.error("similarity", "`high` must not be below the value");
}

void bind_seed(Fields& g, Routing& r) {
  std::int64_t seed = static_cast<std::int64_t>(r.seed);
  g.integer("seed", seed, Need::optional, Range::not_negative(), "seed of the draws");
  r.seed = static_cast<std::uint64_t>(seed);
}

/// Keys that do nothing with this kind of routing, and a missing file.
void check_kind(Fields& g, const Routing& r) {
  const std::string& kind = kKinds[static_cast<std::size_t>(r.kind)];
  auto inert = [&](const char* key) { g.inert(key, "kind", kind); };
  const bool recorded = r.kind == Kind::histogram || r.kind == Kind::trace;
  if (r.kind != Kind::power_law) inert("alpha");
  if (!recorded) inert("file");
  if (r.kind == Kind::trace) inert("similarity"), inert("temporal");
  if (recorded && r.file.empty() && !g.describing())
    g.error("kind", fmt::format("`kind: {}` needs a `file`", kind),
            "a CSV beside the experiment: `file: routing.csv`");
}

std::vector<RouterShape> router_shapes(const Model& model) {
  std::vector<RouterShape> shapes;
  for (const Layer& l : model.layers) {
    const Mlp& mlp = model.mlp_of(l);
    shapes.push_back(mlp.kind == Mlp::Kind::moe ? router_shape(mlp) : RouterShape{});
  }
  return shapes;
}

}  // namespace

void bind_routing(Fields& f, Routing& r) {
  f.section("routing", Need::optional, "how tokens choose experts", [&](Fields& g) {
    g.choice("kind", r.kind, kKinds, Need::optional, "popularity of experts");
    g.number("alpha", r.alpha, Need::optional, Range::between(0, 10), "exponent of the power law");
    bind_similarity(g, r);
    g.number("temporal", r.temporal, Need::optional, Range::between(0, 1),
             "probability that a sequence keeps a chosen expert from the step before");
    g.integer("oea_keep", r.oea_keep, Need::optional, Range::between(0, 1024),
              "opportunistic expert activation: best choices of a token that may make an expert active; 0: off");
    g.text("file", r.file, Need::optional,
           "histogram: CSV of layer,expert,count; trace: CSV of layer,token,experts; relative to this file");
    bind_seed(g, r);
    check_kind(g, r);
  });
}

void bind_placement(Fields& f, Placement& p, const Plan& plan) {
  const bool given = f.section("placement", Need::optional, "which rank holds which expert", [&](Fields& g) {
    g.choice("kind", p.kind, {"contiguous", "balanced"}, Need::optional,
             "balanced: by expected load, busiest expert first onto the least loaded rank");
    g.integer("replicas", p.replicas, Need::optional, Range::between(0, 1 << 16),
              "extra expert slots over all ranks, for copies of the busiest experts");
    if (p.kind == Placement::Kind::contiguous && g.has("replicas"))
      g.warning("replicas", "`replicas` has no effect with `kind: contiguous`");
  });
  if (given && plan.ep <= 1 && plan.moe_ep <= 1)
    f.warning("placement", "`placement` has no effect without expert parallelism", "set `plan.ep`");
}

RouterShape router_shape(const Mlp& mlp) {
  return {mlp.experts, mlp.topk, mlp.groups, mlp.topk_groups, mlp.hash_routed};
}

std::pair<std::string, std::string> read_routing(Experiment& e, const Model& model, const Node* section,
                                                 Diagnostics& out) {
  Routing& r = e.routing;
  auto place_of = [&](const char* key) {
    const Node* node = section == nullptr ? nullptr : section->find(key);
    return node != nullptr ? node->place : Place{e.file};
  };
  const std::vector<RouterShape> shapes = router_shapes(model);
  int topk = 0;
  for (const RouterShape& s : shapes) topk = std::max(topk, s.topk);
  if (r.oea_keep > 0 && r.oea_keep >= topk)
    out.warning(fmt::format("`oea_keep: {}` has no effect: {} chooses {} experts", r.oea_keep, model.name, topk),
                place_of("oea_keep"), "routing.oea_keep");
  if ((r.kind != Kind::histogram && r.kind != Kind::trace) || r.file.empty()) return {};
  const Place place = place_of("file");
  const std::string path = (std::filesystem::path(e.file).parent_path() / r.file).lexically_normal().string();
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path)) {
    out.error(fmt::format("cannot read `{}`", path), place, "routing.file",
              "the path is relative to the experiment's file");
    return {};
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (topk == 0) {
    out.error(fmt::format("{} has no experts to route to", model.name), place, "routing.file");
    return {};
  }
  r.recorded = std::make_shared<const RecordedRouting>(read_recorded(r.kind, path, text.str(), shapes, out));
  return {path, hex64(fnv1a(text.str()))};
}

}  // namespace moe
