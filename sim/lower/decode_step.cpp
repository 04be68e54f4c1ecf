#include <fmt/core.h>

#include <algorithm>

#include "lower/draft.hpp"
#include "lower/step.hpp"

namespace moe {
namespace {

GpuSpec tweaked(GpuSpec gpu, const Tweaks& tweaks) {
  gpu.dram_Bps *= tweaks.memory;
  return gpu;
}

/// The sequences that one replica serves: the largest share.
Batch of_replica(const Case& c) { return slice(c.experiment.batch, 0, c.experiment.plan.replicas); }

/// The plan's layout for this batch: no more micro-batches than sequences.
Layout layout_for(const Case& c) {
  Layout l = layout_of(c.experiment.plan, c.model);
  l.micro_batches = std::min(l.micro_batches, std::max(1, of_replica(c).sequences));
  if (l.micro_batches == 1 && l.overlap == Overlap::two_batch) l.overlap = Overlap::none;
  return l;
}

/// A pipeline is full after as many rounds as it takes micro-batches to meet themselves again.
constexpr int kPipelineRounds = 3;

}  // namespace

Step::Step(const Case& c, const LowerOptions& o)
    : case_(c), layout_(layout_for(c)), gpu_(tweaked(c.profile->gpu, o.tweaks)),
      own_writer_(std::make_unique<Writer>(c, gpu_, layout_, o)), writer_(*own_writer_), step_(o.step) {
  const int batch = of_replica(c).sequences;
  shape_.queries = shape_.head_tokens = c.experiment.speculation.queries(batch);
  prepare_batches();
  if (c.experiment.speculation.drafts(batch) > 0) drafter_ = std::make_unique<Drafter>(c, o, writer_, layout_, batch);
}

Step::Step(const Case& c, const LowerOptions& o, Writer& writer, const Layout& layout, const StepShape& shape)
    : case_(c), layout_(layout), gpu_(tweaked(c.profile->gpu, o.tweaks)), shape_(shape), writer_(writer), step_(o.step) {
  prepare_batches();
}

Step::~Step() = default;

void Step::prepare_batches() {
  for (int m = 0; m < layout_.micro_batches; ++m) {
    const Batch mine = slice(of_replica(case_), m, layout_.micro_batches);
    int most = 1;
    for (int g = 0; g < layout_.dp; ++g) {
      Batch b = slice(mine, g, layout_.dp);
      real_.push_back(b.sequences);
      if (b.sequences == 0) b.sequences = 1, b.context = {0};
      most = std::max(most, b.sequences);
      batches_.push_back(b);
    }
    // All groups replay the graph of the largest one.
    const int queries = static_cast<int>(shape_.queries), tokens = most * queries;
    const int padded = case_.stack.padded_rows(most, queries);
    beyond_capture_ = beyond_capture_ || padded == 0;
    rows_.push_back(padded > 0 ? padded : tokens);
  }
}

bool Step::eager() const { return case_.stack.launch.mode == GraphMode::eager || beyond_capture_ || uncaptured_; }

Lowered Step::lower() {
  const int rounds = layout_.pp > 1 ? kPipelineRounds : 1;
  for (int r = 0; r < rounds; ++r) {
    if (r > 0 && r == rounds - 1) writer_.mark_last_round();
    for (int m = 0; m < layout_.micro_batches; ++m) pass(m);
  }
  Lowered out = writer_.finish();
  out.rows = *std::max_element(rows_.begin(), rows_.end());
  out.graph = eager() ? GraphMode::eager : case_.stack.launch.mode;
  out.active_experts = moe_layers_ > 0 ? active_ / moe_layers_ : 0;
  for (const std::string& w : warnings()) out.warnings.push_back(w);
  return out;
}

void Step::pass(int micro) {
  for (int s = 0; s < layout_.pp; ++s) {
    if (layout_.pp > 1) writer_.begin_turn(s, micro);
    stage(s, micro);
    if (layout_.pp > 1) writer_.end_turn(s, micro);
    if (s + 1 == layout_.pp) break;
    // Every lane hands over its part of the activations; the receivers put them together again.
    const double bytes = rows_of(micro) * case_.model.hidden * 2;
    writer_.hand_off(s, micro, bytes / layout_.tp);
    write(s + 1, micro, recipes(micro, {-3, 0, 0}, [&](Cook& k) {
            k.collective("all-gather hand-off", Category::pipeline, CollectiveOp::all_gather, Scope::group, bytes);
          }), -1);
  }
  writer_.next_round(micro);
}

void Step::stage(int s, int micro) {
  if (s == 0) write(s, micro, recipes(micro, {-1, 0, 0}, [](Cook& k) { cook_embedding(k); }), -1);
  for (int i = layout_.first_layer[static_cast<std::size_t>(s)]; i < layout_.first_layer[static_cast<std::size_t>(s) + 1]; ++i)
    layer(s, micro, i);
  if (s + 1 < layout_.pp) return;
  write(s, micro, recipes(micro, {-2, 0, 0}, [](Cook& k) { cook_head(k); }), -1);
  if (drafter_ != nullptr) drafter_->write(s, micro);
  // Halves of one batch are one step for the host; micro-batches of a pipeline are steps of their own.
  const bool ends_step = layout_.pp > 1 || micro + 1 == layout_.micro_batches;
  if (ends_step && !eager())
    for (const int r : writer_.stage_ranks(s)) writer_.host_gap(r, micro, case_.stack.launch.host_per_step_us);
}

void Step::launch(int s, int micro, const char* name, double us, int layer) {
  for (const int r : writer_.stage_ranks(s)) writer_.host_launch(r, micro, name, us, layer);
}

void Step::layer(int s, int micro, int i) {
  const Layer& l = case_.model.layers[static_cast<std::size_t>(i)];
  if (eager() && case_.stack.launch.host_per_layer_us > 0) launch(s, micro, "launch layer", case_.stack.launch.host_per_layer_us, i);
  mlp_ = l.mlp;
  write(s, micro, recipes(micro, {l.attention, l.mlp, l.indexer ? 1 : 0}, [&](Cook& k) {
          cook_attention(k, case_.model.attention_of(l), l.indexer);
          const ExtraCast& cast = case_.stack.extra_cast;
          const bool moe = case_.model.mlp_of(l).kind == Mlp::Kind::moe;
          if (cast.bytes > 0 && (cast.layers == "all" || (cast.layers == "moe") == moe))
            k.other("extra cast", "cast", "any", Category::cast, 0, cast.bytes, kCold, true);
          cook_mlp(k, case_.model.mlp_of(l));
        }), i);
}

void Step::draft_pass(int s, int micro, bool fuses, bool projects, bool captured) {
  uncaptured_ = !captured;
  if (eager())
    for (const int r : writer_.stage_ranks(s)) writer_.host_sync(r, micro);
  write(s, micro, recipes(micro, {-1, fuses, projects}, [&](Cook& k) {
          cook_embedding(k);
          if (fuses) cook_fusion(k, case_.draft->fused_states, projects);
        }), -1);
  for (int i = 0; i < static_cast<int>(case_.model.layers.size()); ++i) layer(s, micro, i);
  write(s, micro, recipes(micro, {-2, 0, 0}, [](Cook& k) { cook_draft_head(k); }), -1);
}

template <class Body>
std::vector<const Recipe*> Step::recipes(int micro, std::tuple<int, int, int> key, Body body) {
  std::vector<const Recipe*> out;
  for (int g = 0; g < groups_played(); ++g) {
    const auto full = std::make_tuple(std::get<0>(key), std::get<1>(key), std::get<2>(key), micro, g);
    auto found = recipes_.find(full);
    if (found == recipes_.end()) {
      Cook cook(case_, gpu_, layout_, batch(micro, g), pass_shape(micro));
      body(cook);
      found = recipes_.emplace(full, cook.take()).first;
    }
    out.push_back(&found->second);
  }
  return out;
}

void Step::write(int s, int micro, const std::vector<const Recipe*>& by_group, int layer) {
  for (std::size_t k = 0; k < by_group[0]->size(); ++k) write_item(s, micro, by_group, k, layer);
}

void Step::write_item(int s, int micro, const std::vector<const Recipe*>& by_group, std::size_t k, int layer) {
  const std::vector<int>& ranks = writer_.stage_ranks(s);
  switch ((*by_group[0])[k].what) {
    case Item::What::kernel:
      for (const int r : ranks)
        writer_.kernel(r, micro, (*by_group[static_cast<std::size_t>(writer_.played()[static_cast<std::size_t>(r)].group)])[k], layer);
      break;
    case Item::What::collective: collective(s, micro, by_group, k, layer); break;
    case Item::What::routed_experts: routed(s, micro, layer); break;
    case Item::What::dispatch: exchange_tokens(s, micro, false, layer); break;
    case Item::What::combine: exchange_tokens(s, micro, true, layer); break;
    case Item::What::join_streams:
      for (const int r : ranks) writer_.join_streams(r, micro);
      break;
    case Item::What::eager_attention:
      if (case_.stack.launch.mode == GraphMode::piecewise && !eager())
        launch(s, micro, "launch attention", case_.stack.launch.host_per_eager_attention_us, layer);
      break;
  }
}

std::vector<std::string> Step::warnings() const {
  std::vector<std::string> out;
  if (beyond_capture_)
    out.push_back(fmt::format("batch {} exceeds the largest captured graph ({} rows): launched eagerly",
                              case_.experiment.batch.sequences, case_.stack.launch.capture_sizes.back()));
  if (beyond_capture_ && case_.stack.launch.host_per_layer_us <= 0)
    out.push_back("the stack gives no `host_per_layer`, so the eager launch time of this batch is not counted");
  for (std::size_t m = 0; m < rows_.size(); ++m) {
    int most = 0;
    for (int g = 0; g < layout_.dp; ++g) most = std::max(most, batch(static_cast<int>(m), g).sequences);
    const int tokens = most * static_cast<int>(shape_.queries);
    if (rows_[m] == tokens) continue;
    out.push_back(fmt::format("a batch of {}{} is padded to the captured graph of {} rows", most,
                              tokens > most ? fmt::format(" with {} tokens each", shape_.queries) : "", rows_[m]));
    break;
  }
  for (std::size_t i = 0; i < real_.size(); ++i)
    if (real_[i] == 0) {
      out.push_back("some ranks have no sequence and take part with a dummy one");
      break;
    }
  return out;
}

Lowered lower_step(const Case& c, const LowerOptions& options) { return Step(c, options).lower(); }

}  // namespace moe
