// moe.csv: the routed experts of one layer, from logits to combined rows. Every call draws its routing anew and works
// on another set of weights, enough of them that what a call touches has left L2 before it comes again.
#include <algorithm>
#include <cmath>
#include <random>

#include "harness/buffer.hpp"
#include "kernels/experts.hpp"
#include "kernels/grouped_gemm.hpp"
#include "kernels/pack.hpp"
#include "kernels/routing.hpp"
#include "measure/moe_shapes.hpp"
#include "measure/points.hpp"
#include "measure/routing.hpp"
#include "measure/sections.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kWeightRoom = 40ull << 30, kMostRouting = 16;

ExpertShape shape_of(const MoePoint& p) {
  return {p.tokens, p.g.hidden, p.g.intermediate / p.g.tp, p.g.topk, p.g.experts, p.g.experts / p.g.ep, 0};
}
const char* path_of(Format f) {
  return f == Format::bf16 ? "suite-1/grouped_bf16" : f == Format::fp8 ? "suite-1/grouped_fp8" : "suite-1/grouped_w4a16";
}

/// Sets of weights of one geometry, side by side in one buffer that stays.
class WeightSets {
 public:
  WeightSets() : room_(kWeightRoom), scale_(kMostExperts * sizeof(float), Fill::scale_f32, 5) {}
  /// Makes up to `wanted` sets; says how many there are.
  int prepare(cudaStream_t stream, Format format, const ExpertShape& s, int wanted) {
    w13_ = padded(w13_bytes(format, s));
    set_ = w13_ + padded(w2_bytes(format, s));
    if (set_ > kWeightRoom) throw Unsupported("needs more than 40 GB of weights");
    const int count = std::min<int>(wanted, static_cast<int>(kWeightRoom / set_));
    const ExpertShape key{0, s.hidden, s.intermediate, 0, 0, s.local_experts, 0};
    const bool same = format == format_ && key.hidden == key_.hidden && key.intermediate == key_.intermediate && key.local_experts == key_.local_experts;
    if (same && count <= made_) return count;
    for (int i = same ? made_ : 0; i < count; ++i) {
      char* at = room_.as<char>() + static_cast<std::size_t>(i) * set_;
      fill_packed(stream, format, s.local_experts, 2 * s.intermediate, s.hidden, static_cast<std::uint64_t>(2 * i + 1), at);
      fill_packed(stream, format, s.local_experts, s.hidden, s.intermediate, static_cast<std::uint64_t>(2 * i + 2), at + w13_);
    }
    format_ = format;
    key_ = key;
    made_ = count;
    return count;
  }
  ExpertWeights set(int i) const {
    const char* at = room_.as<char>() + static_cast<std::size_t>(i) * set_;
    return {at, at + w13_, scale_.as<float>(), scale_.as<float>()};
  }

 private:
  static constexpr std::size_t kMostExperts = 512;
  static std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  Buffer room_, scale_;
  Format format_ = Format::nvfp4;
  ExpertShape key_{};
  std::size_t w13_ = 0, set_ = 0;
  int made_ = 0;
};

/// Distinct local experts of one draw: what a call reads.
double touched(const std::vector<int>& chosen, int local_experts) {
  std::vector<bool> seen(static_cast<std::size_t>(local_experts));
  for (const int e : chosen)
    if (e < local_experts) seen[static_cast<std::size_t>(e)] = true;
  return static_cast<double>(std::count(seen.begin(), seen.end(), true));
}

/// stage: of kExpertStages alone, -1: the whole block.
Timing time_point(Session& session, const MoePoint& p, WeightSets& weights, Arena& arena, int stage = -1) {
  const ExpertShape s = shape_of(p);
  cudaStream_t stream = session.stream();
  arena.reset();
  const auto tokens = static_cast<std::size_t>(s.tokens), topk = static_cast<std::size_t>(s.topk);
  std::mt19937_64 random(static_cast<std::uint64_t>(p.tokens) * 1000003u + static_cast<std::uint64_t>(s.experts));
  std::vector<int> all;
  double active = 0;
  for (std::size_t i = 0; i < kMostRouting; ++i) {
    const std::vector<int> drawn = choices({s.tokens, s.experts, s.topk, p.g.ep, p.alpha}, random);
    active += touched(drawn, s.local_experts) / static_cast<double>(kMostRouting);
    all.insert(all.end(), drawn.begin(), drawn.end());
  }
  int* chosen = arena.take<int>(all.size());
  BENCH_CHECK(cudaMemcpyAsync(chosen, all.data(), all.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  const std::size_t row_logits = tokens * static_cast<std::size_t>(s.experts);
  float* logits = arena.take<float>(row_logits * kMostRouting);
  for (std::size_t i = 0; i < kMostRouting; ++i)
    launch_logits(stream, chosen + i * tokens * topk, s.tokens, s.experts, s.topk, logits + i * row_logits);
  bf16* x = arena.take<bf16>(tokens * static_cast<std::size_t>(s.hidden));
  fill(stream, x, tokens * static_cast<std::size_t>(s.hidden) * 2, Fill::normal_bf16, 9);
  bf16* y = arena.take<bf16>(tokens * static_cast<std::size_t>(s.hidden));
  void* scratch = arena.take_bytes(experts_workspace_bytes(p.format, s));

  const double expert_bytes = static_cast<double>(w13_bytes(p.format, s) + w2_bytes(p.format, s)) / s.local_experts;
  const int wanted = cold_copies(std::max(1.0, active) * expert_bytes);
  const int sets = weights.prepare(stream, p.format, s, wanted);
  const int routing = static_cast<int>(kMostRouting), calls = std::max(routing, (sets + routing - 1) / routing * routing);
  TimingOptions options;
  options.least_replays = 4;
  // A stage alone works on what the stages before it left.
  launch_experts(stream, p.format, s, x, logits, weights.set(0), y, scratch);
  return time_graph(stream, calls, calls, [&](cudaStream_t on, int i) {
    const float* draw = logits + static_cast<std::size_t>(i % routing) * row_logits;
    if (stage < 0) launch_experts(on, p.format, s, x, draw, weights.set(i % sets), y, scratch);
    else launch_expert_stage(stage, on, p.format, s, x, draw, weights.set(i % sets), y, scratch);
  }, options);
}

}  // namespace

void measure_moe(Session& session) {
  Results results = session.results("moe.csv", {"path", "dtype", "tokens", "hidden", "intermediate", "topk", "experts", "tp", "ep", "distribution"});
  WeightSets weights;
  Arena arena(2ull << 30, Fill::none);
  const auto key = [](const MoePoint& p) {
    return Key{path_of(p.format), dtype_name(p.format), text(p.tokens), text(p.g.hidden), text(p.g.intermediate), text(p.g.topk),
               text(p.g.experts), text(p.g.tp), text(p.g.ep), p.alpha > 0 ? "power_law_1.2" : "balanced"};
  };
  measure_points(session, "moe", results, moe_points(session.options().quick), key,
                 [&](const MoePoint& p) { return time_point(session, p, weights, arena); });
}

void measure_stages(Session& session) {
  struct Point {
    MoePoint whole;
    int stage;
  };
  std::vector<Point> points;
  for (const Format f : {Format::bf16, Format::fp8, Format::int4})
    for (const ExpertGeometry& g : {ExpertGeometry{6656, 2560, 8, 416, 8, 1}, ExpertGeometry{4608, 1536, 8, 144, 4, 1}})
      for (const int tokens : {1, 8, 64, 256})
        for (int stage = 0; stage < kExpertStages; ++stage)
          if (stage != 2 || f == Format::fp8) points.push_back({{f, g, tokens, 0}, stage});
  Results results = session.results("moe_stages.csv", {"path", "stage", "tokens", "hidden", "intermediate", "topk", "experts", "tp", "ep"});
  WeightSets weights;
  Arena arena(2ull << 30, Fill::none);
  const auto key = [](const Point& p) {
    const ExpertGeometry& g = p.whole.g;
    return Key{path_of(p.whole.format), kExpertStageNames[p.stage], text(p.whole.tokens), text(g.hidden), text(g.intermediate), text(g.topk),
               text(g.experts), text(g.tp), text(g.ep)};
  };
  measure_points(session, "stages", results, points, key,
                 [&](const Point& p) { return time_point(session, p.whole, weights, arena, p.stage); });
}

}  // namespace moe::bench
