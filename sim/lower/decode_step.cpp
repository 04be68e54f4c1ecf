// One decode step, layer by layer.
#include <fmt/core.h>

#include <map>
#include <tuple>

#include "lower/recipe.hpp"
#include "lower/writer.hpp"

namespace moe {
namespace {

/// One MoE block of the model with its router and the kernel path that runs it.
struct Experts {
  const Mlp* mlp;
  const MoePath* path;
  std::string path_name;
  Router router;
};

class Step {
 public:
  Step(const Case& c, const LowerOptions& o)
      : case_(c), gpu_(tweaked(c.profile.gpu, o.tweaks)), rows_(padded(c)), writer_(c, gpu_, o), step_(o.step) {}

  Lowered lower() {
    write(recipe_of([](Cook& k) { cook_embedding(k); }), -1);
    for (std::size_t i = 0; i < case_.model.layers.size(); ++i) layer(static_cast<int>(i));
    write(recipe_of([](Cook& k) { cook_head(k); }), -1);
    writer_.host_gap(eager() ? 0 : case_.stack.launch.host_per_step_us);
    Lowered out = writer_.finish();
    out.rows = rows_;
    out.graph = eager() ? GraphMode::eager : case_.stack.launch.mode;
    out.active_experts = moe_layers_ > 0 ? active_ / moe_layers_ : 0;
    out.warnings = warnings();
    return out;
  }

 private:
  static GpuSpec tweaked(GpuSpec gpu, const Tweaks& tweaks) {
    gpu.dram_Bps *= tweaks.memory;
    return gpu;
  }
  static int padded(const Case& c) {
    const int rows = c.stack.padded_rows(c.experiment.batch.sequences);
    return rows > 0 ? rows : c.experiment.batch.sequences;
  }
  /// Larger than the largest captured graph: the engine launches kernel by kernel.
  bool beyond_capture() const { return case_.stack.padded_rows(case_.experiment.batch.sequences) == 0; }
  bool eager() const { return case_.stack.launch.mode == GraphMode::eager || beyond_capture(); }

  template <class Body>
  Recipe recipe_of(Body body) {
    Cook cook(case_, gpu_, rows_);
    body(cook);
    return cook.take();
  }

  void layer(int i) {
    const Layer& l = case_.model.layers[static_cast<std::size_t>(i)];
    if (eager() && case_.stack.launch.host_per_layer_us > 0)
      writer_.host_launch("launch layer", case_.stack.launch.host_per_layer_us, i);
    const auto key = std::make_tuple(l.attention, l.mlp, l.indexer);
    auto found = recipes_.find(key);
    if (found == recipes_.end())
      found = recipes_.emplace(key, recipe_of([&](Cook& k) {
        cook_attention(k, case_.model.attention_of(l), l.indexer);
        extra_cast(k, case_.model.mlp_of(l));
        cook_mlp(k, case_.model.mlp_of(l));
      })).first;
    current_mlp_ = l.mlp;
    write(found->second, i);
  }

  void extra_cast(Cook& k, const Mlp& mlp) {
    const ExtraCast& cast = case_.stack.extra_cast;
    const bool moe = mlp.kind == Mlp::Kind::moe;
    if (cast.bytes > 0 && (cast.layers == "all" || (cast.layers == "moe") == moe))
      k.other("extra cast", "cast", "any", Category::cast, 0, cast.bytes, kCold, true);
  }

  void write(const Recipe& recipe, int i) {
    for (const Item& item : recipe) {
      if (item.what == Item::What::routed_experts) routed(i);
      else if (item.what == Item::What::eager_attention) launch_attention(i);
      else writer_.write(item, i);
    }
  }

  void launch_attention(int i) {
    if (case_.stack.launch.mode == GraphMode::piecewise && !eager())
      writer_.host_launch("launch attention", case_.stack.launch.host_per_eager_attention_us, i);
  }

  void routed(int i) {
    Experts& e = experts(current_mlp_);
    const std::vector<int>& rows = e.router.draw();
    for (const int r : rows) active_ += r > 0 ? 1 : 0;
    ++moe_layers_;
    Recipe recipe = cook_experts(case_, gpu_, *e.path, e.path_name, *e.mlp, rows, rows_);
    recipe[kFirstGemm].cost.time_us += writer_.take_aux_memory_us();
    for (const Item& item : recipe) writer_.write(item, i);
  }

  Experts& experts(int position) {
    const auto found = experts_.find(position);
    if (found != experts_.end()) return found->second;
    const Mlp& mlp = case_.model.mlp[static_cast<std::size_t>(position)];
    const auto format = case_.weights().format[static_cast<std::size_t>(TensorClass::routed_experts)];
    std::string name;
    const MoePath& path = kernel_path(case_, case_.profile.moe, "moe", "experts", kernel_format(format), name);
    Routing routing = case_.experiment.routing;
    routing.seed += 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(step_ * 64 + position + 1);
    const int real = case_.experiment.batch.sequences;
    return experts_.emplace(position, Experts{&mlp, &path, name, Router(routing, mlp.experts, mlp.topk, real, rows_ - real)})
        .first->second;
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> out;
    if (beyond_capture())
      out.push_back(fmt::format("batch {} exceeds the largest captured graph ({} rows): launched eagerly",
                                case_.experiment.batch.sequences, case_.stack.launch.capture_sizes.back()));
    if (beyond_capture() && case_.stack.launch.host_per_layer_us <= 0)
      out.push_back("the stack gives no `host_per_layer`, so the eager launch time of this batch is not counted");
    if (rows_ != case_.experiment.batch.sequences)
      out.push_back(fmt::format("batch {} is padded to the captured graph of {} rows", case_.experiment.batch.sequences, rows_));
    return out;
  }

  const Case& case_;
  GpuSpec gpu_;
  int rows_;
  Writer writer_;
  int step_;
  int current_mlp_ = 0;
  double active_ = 0;
  int moe_layers_ = 0;
  std::map<std::tuple<int, int, bool>, Recipe> recipes_;
  std::map<int, Experts> experts_;
};

}  // namespace

Lowered lower_step(const Case& c, const LowerOptions& options) { return Step(c, options).lower(); }

}  // namespace moe
