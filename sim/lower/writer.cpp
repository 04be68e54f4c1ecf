#include "lower/writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "network/fabric.hpp"

namespace moe {
namespace {

CommCost faster_links(CommCost c, double factor) {
  c.wire_GBps *= factor;
  c.ll128_rate_GBps *= factor;
  for (auto& [name, t] : c.transport) t.rate_simple_GBps *= factor;
  for (AllToAllCost& a : c.all_to_all)
    for (auto& [ranks, rate] : a.rate_GBps) rate *= factor;
  return c;
}

}  // namespace

Writer::Writer(const Case& c, const GpuSpec& gpu, const Layout& layout, const LowerOptions& options)
    : case_(c), gpu_(gpu), layout_(layout), options_(options), micro_batches_(layout.micro_batches),
      comm_cost_(faster_links(c.profile->comm, options.tweaks.links)), link_bytes_(c.machine->links.size(), 0.0) {
  play_ranks();
  chains_.resize(played_.size() * static_cast<std::size_t>(micro_batches_));
  turn_.resize(played_.size(), kNoOp);
}

bool Writer::identical_ranks() const {
  const auto& speeds = case_.machine->gpu_speed;
  for (const int gpu : case_.experiment.gpus)
    if (static_cast<std::size_t>(gpu) < speeds.size() && speeds[static_cast<std::size_t>(gpu)] != 1) return false;
  if (layout_.dp == 1) return true;
  // Groups that exchange tokens by flows, or that hold unequal batches, are played one by one.
  if (layout_.experts_across_groups) return false;
  const Batch first = slice(case_.experiment.batch, 0, layout_.dp), last = slice(case_.experiment.batch, layout_.dp - 1, layout_.dp);
  return first.sequences == last.sequences && case_.experiment.batch.context.size() == 1;
}

void Writer::play_ranks() {
  folded_ = options_.fold && layout_.ranks_per_stage() > 1 && identical_ranks();
  const auto& speeds = case_.machine->gpu_speed;
  by_stage_.resize(static_cast<std::size_t>(layout_.pp));
  for (int s = 0; s < layout_.pp; ++s)
    for (int g = 0; g < (folded_ ? 1 : layout_.dp); ++g)
      for (int t = 0; t < (folded_ ? 1 : layout_.tp); ++t) {
        const int gpu = case_.experiment.gpus[static_cast<std::size_t>(layout_.rank(s, g, t))];
        const bool given = static_cast<std::size_t>(gpu) < speeds.size();
        by_stage_[static_cast<std::size_t>(s)].push_back(static_cast<int>(played_.size()));
        played_.push_back({s, g, t, gpu, given ? speeds[static_cast<std::size_t>(gpu)] : 1.0});
      }
}

int Writer::label_of(const Item& item) {
  if (item.label < 0) item.label = builder_.name(item.name);
  return item.label;
}

int Writer::use_of(const std::string& path) {
  const auto [found, is_new] = use_numbers_.emplace(path, static_cast<int>(uses_.size()));
  if (is_new) {
    uses_.emplace_back();
    uses_.back().path = path;
  }
  return found->second;
}

void Writer::count(int use, double us, double spread, bool outside, bool is_part) {
  PathUse& u = uses_[static_cast<std::size_t>(use)];
  u.calls += is_part ? 0 : 1;
  u.outside += outside && !is_part ? 1 : 0;
  u.time_us += us;
  u.spread = std::max(u.spread, spread);
}

OpId Writer::append(int rank, int micro, Stream stream, const Item& item, double us, int layer) {
  Chain& c = chain(rank, micro);
  const Label label{static_cast<std::uint16_t>(label_of(item)), static_cast<std::int16_t>(layer), static_cast<std::int16_t>(rank), -1};
  const OpId op = builder_.compute(server(rank, stream), from_us(us), booked(item.category), label);
  OpId& last = stream == kAux ? c.aux : stream == kHost ? c.host : c.main;
  // The second stream starts from where the main stream stands when it is first used.
  const OpId before = stream == kAux && last == kNoOp ? c.main : last;
  if (before != kNoOp) builder_.order(before, op);
  if (stream != kHost && c.host_pending) {
    builder_.order(c.host, op);
    c.host_pending = false;
  }
  last = op;
  facts_.push_back({item.cost.flop, item.cost.dram_bytes, item.cost.compute, item.replicated});
  if (options_.record) record(op, rank, stream, item, layer);
  return op;
}

void Writer::record(OpId op, int rank, Stream stream, const Item& item, int layer) {
  static const char* const kNames[kStreams] = {"main", "aux", "comm", "host"};
  last_call_.resize(played_.size());
  std::size_t& last = last_call_[static_cast<std::size_t>(rank)];
  if (item.part) {
    calls_[last].ops.push_back(op);
    calls_[last].dram_bytes += item.cost.dram_bytes;
    return;
  }
  last = calls_.size();
  // Routed experts are one call, named after the whole and not after their first stage.
  const std::string name = item.call.op_class == "experts" ? "experts" : item.name;
  calls_.push_back({{op}, rank, layer, name, item.path, kNames[stream], item.call, {}, {}, item.cost.dram_bytes});
}

void Writer::record_routing(int rank, const std::vector<int>& rows, double tokens_here) {
  if (!options_.record) return;
  Call& call = calls_[last_call_[static_cast<std::size_t>(rank)]];
  call.rows = rows;
  call.shape.sizes.emplace_back("tokens_here", tokens_here);
}

double Writer::prefetch_gain_us(Chain& c, const Item& item) {
  if (c.prefetched_bytes <= 0 || item.cost.dram_bytes <= 0) return 0;
  const double bytes = std::min(c.prefetched_bytes, item.cost.dram_bytes);
  c.prefetched_bytes = 0;
  // What is left of the kernel cannot be shorter than its launch and its tiles.
  const double saved = item.cost.memory_us * bytes / item.cost.dram_bytes;
  return std::min(saved, std::max(0.0, item.cost.time_us - item.cost.launch_us - item.cost.compute_us));
}

/// Idle time before a node of a graph that the kernel's own time does not hold.
double Writer::graph_gap_us(const Item& item) const {
  const Launch& l = case_.stack.launch;
  if (l.mode == GraphMode::eager) return 0;
  const bool whole_kernel = !item.path.empty() && !item.part;
  return (item.timed_alone ? l.node_gap_us : 0) + (whole_kernel ? l.cold_kernel_us : 0);
}

void Writer::kernel(int rank, int micro, const Item& item, int layer, double time_us) {
  Chain& c = chain(rank, micro);
  double us = time_us >= 0 ? time_us : item.cost.time_us;
  if (case_.stack.l2_prefetch && !item.aux_stream) us -= prefetch_gain_us(c, item);
  if (case_.stack.cast_free && item.category == Category::cast) us = 0;
  us /= faster(item.category);
  if (layout_.overlap == Overlap::two_batch) us *= 1 + case_.stack.comm.sm_share;
  if (!item.path.empty() && is_counted(rank, micro)) {
    if (item.use < 0) item.use = use_of(item.path);
    count(item.use, us, item.cost.spread, !item.cost.in_range, item.part);
  }
  if (item.aux_stream) c.aux_memory_us += item.cost.memory_us / faster(item.category);
  const Stream stream = item.aux_stream ? kAux : kMain;
  if (const double gap_us = graph_gap_us(item); gap_us > 0) {
    Item gap;
    gap.name = "graph gap";
    gap.category = Category::host;
    gap.call.op_class = "gap";
    append(rank, micro, stream, gap, gap_us / faster(Category::host), layer);
  }
  append(rank, micro, stream, item, us / played_[static_cast<std::size_t>(rank)].speed, layer);
}

void Writer::join_streams(int rank, int micro) {
  Chain& c = chain(rank, micro);
  if (c.aux == kNoOp) return;
  const OpId both = builder_.join({});
  facts_.push_back({});
  builder_.order(c.aux, both);
  builder_.order(c.main, both);
  c.main = both;
  c.aux = kNoOp;
}

void Writer::begin_turn(int stage, int micro) {
  for (const int r : stage_ranks(stage)) {
    const OpId before = turn_[static_cast<std::size_t>(r)];
    OpId& main = chain(r, micro).main;
    if (before == kNoOp || before == main) continue;
    const OpId turn = builder_.join({});
    facts_.push_back({});
    builder_.order(before, turn);
    if (main != kNoOp) builder_.order(main, turn);
    main = turn;
  }
}

void Writer::end_turn(int stage, int micro) {
  for (const int r : stage_ranks(stage)) turn_[static_cast<std::size_t>(r)] = chain(r, micro).main;
}

void Writer::host_launch(int rank, int micro, const char* name, double us, int layer) {
  Item item;
  item.name = name;
  item.category = Category::host;
  item.call.op_class = "host";
  append(rank, micro, kHost, item, us / faster(Category::host), layer);
  chain(rank, micro).host_pending = true;
}

void Writer::host_gap(int rank, int micro, double us) {
  Item item;
  item.name = "host gap";
  item.category = Category::host;
  item.call.op_class = "host";
  if (us > 0) append(rank, micro, kMain, item, us / faster(Category::host), -1);
}

double Writer::take_aux_memory_us(int rank, int micro) { return std::exchange(chain(rank, micro).aux_memory_us, 0.0); }

void Writer::mark_last_round() {
  last_round_ = facts_.size();
  for (const Chain& c : chains_)
    if (c.main != kNoOp) before_last_round_.push_back(c.main);
  for (PathUse& u : uses_) u.calls = u.outside = 0, u.time_us = 0;
  std::fill(link_bytes_.begin(), link_bytes_.end(), 0.0);
}

Lowered Writer::finish() {
  Lowered out;
  out.program = builder_.seal();
  out.resources = fabric(*case_.machine, options_.tweaks.links);
  for (const Played& p : played_) {
    const std::string gpu = "gpu" + std::to_string(p.gpu);
    for (const char* stream : {"", " aux", " comm", " host"}) out.resources.server_names.push_back(gpu + stream);
  }
  out.facts.reserve(facts_.size());
  for (const OpFacts& f : facts_) out.facts.push_back(f);
  for (PathUse& u : uses_)
    if (u.time_us > 0 || u.calls > 0) out.paths.push_back(std::move(u));
  out.link_bytes = std::move(link_bytes_);
  out.warnings.assign(notes_.begin(), notes_.end());
  out.calls = std::move(calls_);
  out.ranks = layout_.ranks();
  out.folded = folded_;
  out.first_op = static_cast<OpId>(last_round_);
  out.before = std::move(before_last_round_);
  for (const Played& p : played_) out.stage_of_rank.push_back(p.stage);
  out.micro_batches = micro_batches_;
  return out;
}

}  // namespace moe
