#include "stack/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace moe {
namespace {

const std::vector<std::string> kOps{"dense", "experts", "mla", "sparse_mla", "gqa", "absorb", "elementwise",
                                    "reduction", "cast", "sampling", "indexer_logits", "indexer_topk",
                                    "gdn_recurrent", "gdn_conv", "mhc", "add_norm", "qk_norm", "rope", "kv_write",
                                    "q_concat", "activation", "shared_add", "output_gate", "embedding"};

const std::vector<std::string> kFormats{"bf16", "fp8", "fp8_block", "nvfp4", "mxfp4", "int4", "any"};

/// kernels: {dense: {bf16: path, ...}, elementwise: path, ...}; a plain path serves any format.
void bind_kernels(Fields& f, Stack& s) {
  f.section("kernels", Need::required, "kernel path of the profile, by op class and number format", [&](Fields& k) {
    for (const std::string& op : kOps) {
      const Node* node = k.raw(op, "path, or map of format: path", Need::optional, "paths of " + op);
      if (node == nullptr) continue;
      if (node->is_scalar()) s.kernels[op]["any"] = node->text;
      else if (node->is_map()) {
        for (const Entry& e : node->entries) {
          if (std::find(kFormats.begin(), kFormats.end(), e.key) == kFormats.end())
            k.error(op, fmt::format("`{}` is not a number format", e.key), suggestion(e.key, kFormats));
          else if (e.value.is_scalar()) s.kernels[op][e.key] = e.value.text;
          else k.error(op, fmt::format("`{}` must be a kernel path", e.key));
        }
      } else k.error(op, fmt::format("`{}` must be a path or a map of format: path", op));
    }
  });
}

void bind_launch(Fields& f, Launch& l) {
  f.section("launch", Need::required, "how a step is launched", [&](Fields& g) {
    g.choice("graph", l.mode, {"full", "piecewise", "eager"}, Need::required, "CUDA-graph mode of a decode step");
    std::vector<double> sizes;
    g.numbers("capture_sizes", sizes, Unit::count, Need::optional, Range::positive(),
              "rows at which graphs were captured; a batch is padded up to the next one");
    for (const double v : sizes) l.capture_sizes.push_back(static_cast<int>(v));
    g.choice("capture_unit", l.sizes_are_sequences, {"rows", "sequences"}, Need::optional,
             "what capture_sizes count; with drafts a sequence has several rows");
    if (l.capture_sizes.empty()) g.inert("capture_unit", "capture_sizes", "none");
    if (!std::is_sorted(l.capture_sizes.begin(), l.capture_sizes.end()))
      g.error("capture_sizes", "`capture_sizes` must ascend");
    auto time = [&](const char* key, double& us, const char* help) {
      double seconds = us * 1e-6;
      g.quantity(key, seconds, Unit::time, Need::optional, Range::not_negative(), help);
      us = seconds * 1e6;
    };
    time("host_per_step", l.host_per_step_us, "gap between two graph replays");
    time("host_per_draft", l.host_per_draft_us, "speculation: rejection and preparation between verify and draft, once per step");
    time("node_gap", l.node_gap_us, "idle per graph node, added only to ops that were timed alone");
    time("cold_kernel", l.cold_kernel_us,
         "per kernel: what it takes longer in a step than repeated by itself, since other weights went through the L2 in between");
    time("host_per_layer", l.host_per_layer_us, "eager: host time to launch one layer");
    time("host_per_eager_attention", l.host_per_eager_attention_us,
         "piecewise: host time per layer to launch eager attention");
    if (l.mode == GraphMode::eager && l.host_per_layer_us <= 0)
      g.error("host_per_layer", "`graph: eager` needs `host_per_layer`");
    if (l.mode == GraphMode::eager) {
      if (!l.capture_sizes.empty()) g.inert("capture_sizes", "graph", "eager");
      for (const char* key : {"host_per_step", "node_gap", "cold_kernel"}) g.inert(key, "graph", "eager");
    }
    if (l.mode != GraphMode::piecewise)
      g.inert("host_per_eager_attention", "graph", l.mode == GraphMode::full ? "full" : "eager");
    if (l.mode == GraphMode::piecewise && l.host_per_eager_attention_us <= 0)
      g.error("host_per_eager_attention", "`graph: piecewise` needs `host_per_eager_attention`");
  });
}

void bind_one_shot(Fields& f, Communication& c) {
  f.list("one_shot", Need::optional, "measured one-shot kernel by rank count", [&](Fields& g, std::size_t) {
    OneShot o;
    double t0 = 0, rate = 0;
    g.integer("ranks", o.ranks, Need::required, Range::at_least(2), "ranks of the communicator");
    g.quantity("t0", t0, Unit::time, Need::required, Range::positive(), "fixed part");
    g.quantity("rate", rate, Unit::bandwidth, Need::required, Range::positive(), "bytes read per rank and second");
    for (const OneShot& other : c.one_shot)
      if (other.ranks == o.ranks) g.error("ranks", fmt::format("{} ranks are listed twice", o.ranks));
    o.t0_us = t0 * 1e6;
    o.rate_GBps = rate * 1e-9;
    c.one_shot.push_back(o);
  });
}

void bind_all_reduce(Fields& f, Communication& c) {
  f.section("all_reduce", Need::required, "how ranks add up activations", [&](Fields& g) {
    CollectivePolicy& p = c.policy;
    int implementation = 0;
    g.choice("implementation", implementation, {"nccl", "custom", "best"}, Need::required,
             "nccl; custom (own kernel up to the cut-off, NCCL above); best (the faster of both)");
    p.custom = implementation != 0;
    p.best_of_both = implementation == 2;
    std::vector<std::string> protocols;
    g.texts("protocols", protocols, Need::optional,
            "protocols NCCL may choose from: LL, LL128, Simple; default: NCCL's own (LL128 only over NVLink)");
    p.protocols.clear();
    for (const std::string& name : protocols) {
      if (name == "LL") p.protocols.push_back(Protocol::ll);
      else if (name == "LL128") p.protocols.push_back(Protocol::ll128);
      else if (name == "Simple") p.protocols.push_back(Protocol::simple);
      else g.error("protocols", fmt::format("unknown protocol `{}`", name), "LL, LL128 or Simple");
    }
    if (!p.custom)
      for (const char* key : {"cutoff", "ignore_cutoff_rows", "two_shot_above", "two_shot_extra", "one_shot"})
        g.inert(key, "implementation", "nccl");
    p.custom_max_bytes = std::numeric_limits<double>::infinity();
    g.quantity("cutoff", p.custom_max_bytes, Unit::bytes, Need::optional, Range::positive(),
               "largest message of the own kernel; default: all sizes");
    g.integer("ignore_cutoff_rows", p.custom_ignore_cutoff_rows, Need::optional, Range::not_negative(),
              "own kernel for batches up to this many rows, whatever the size");
    g.quantity("two_shot_above", p.two_shot_bytes, Unit::bytes, Need::optional, Range::positive(),
               "own kernel runs in two shots above this size");
    p.two_shot_above = p.two_shot_bytes > 0;
    double extra = 0;
    g.quantity("two_shot_extra", extra, Unit::time, Need::optional, Range::not_negative(),
               "extra barrier of the two-shot kernel");
    p.two_shot_extra_us = extra * 1e6;
    bind_one_shot(g, c);
    if (p.custom && c.one_shot.empty() && !g.describing())
      g.error("implementation", "an own kernel needs its measured times in `one_shot`");
    if (p.custom && !g.has("cutoff")) g.inert("ignore_cutoff_rows", "cutoff", "none");
    if (p.custom && !p.two_shot_above) g.inert("two_shot_extra", "two_shot_above", "none");
    g.number("sm_share", c.sm_share, Need::optional, Range::between(0, 0.5),
             "share of the SMs that a collective takes from compute that runs beside it");
    g.flag("embedding", c.embedding_all_reduce, Need::optional, "vocab-parallel embedding adds one all-reduce");
    g.flag("fused_with_norm", c.fused_with_norm, Need::optional, "all-reduce, residual add and norm in one kernel");
  });
}

void bind_published(Fields& f, const char* key, const char* help, std::vector<PublishedSpread>& into) {
  f.list(key, Need::optional, help, [&](Fields& g, std::size_t) {
    PublishedSpread p;
    g.integer("up_to", p.up_to, Need::required, Range::at_least(1), "largest batch of this entry, in sequences");
    g.number("low", p.low, Need::required, Range::between(0.1, 10), "5th percentile of measured / simulated");
    g.number("high", p.high, Need::required, Range::between(0.1, 10), "95th percentile");
    if (!into.empty() && into.back().up_to >= p.up_to) g.error("up_to", "`up_to` must ascend");
    if (p.low > p.high) g.error("low", "`low` is above `high`");
    into.push_back(p);
  });
}

}  // namespace

void bind_stack(Fields& f, Stack& s) {
  int schema = 0;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file format");
  f.text("engine", s.engine, Need::required, "engine and build, for people");
  f.flag("documented", s.documented, Need::optional, "described by engine logs or launch recipes");
  f.texts("sources", s.sources, Need::required, "where the facts come from");
  f.texts("unknown", s.unknown, Need::optional, "what is not known about this build; reports repeat it");
  f.section("published", Need::optional, "how far published steps of this build lie from simulated ones; widens intervals", [&](Fields& g) {
    std::string source;
    g.text("source", source, Need::required, "which rows; written by scripts/calibrate-intervals");
    bind_published(g, "steps", "without drafts, by batch", s.published);
    bind_published(g, "with_drafts", "steps that verify drafts, by batch", s.published_with_drafts);
  });
  bind_kernels(f, s);
  f.texts("fused", s.fused, Need::optional, "small kernels that are part of another kernel here");
  for (const std::string& kernel : s.fused)
    if (std::find(kFusable.begin(), kFusable.end(), kernel) == kFusable.end())
      f.error("fused", fmt::format("`{}` cannot be fused", kernel),
              suggestion(kernel, {kFusable.begin(), kFusable.end()}));
  f.flag("shared_experts_stream", s.shared_experts_stream, Need::optional, "shared expert on a second stream");
  f.flag("l2_prefetch", s.l2_prefetch, Need::optional, "fetches the next weights into L2 while a collective runs");
  f.flag("cast_free", s.cast_free, Need::optional, "casts and quantisations run inside their neighbours");
  f.flag("persistent_experts", s.persistent_experts, Need::optional, "grouped GEMM without partial waves over the SMs");
  f.number("expert_sparsity", s.expert_sparsity, Need::optional, Range::between(0.1, 1),
           "share of the expert weights that is read; 2:4 structured sparsity: 0.5625 with its index bits");
  f.flag("sparse_attention", s.sparse_attention, Need::optional, "runs the model's sparse attention where it has one");
  f.section("sampling", Need::optional, "what picks the next token", [&](Fields& g) {
    g.integer("kernels", s.sampling_kernels, Need::optional, Range::at_least(1), "kernels per step");
    g.number("passes", s.sampling_passes, Need::optional, Range::not_negative(),
             "fp32 passes over batch x vocabulary");
  });
  bind_launch(f, s.launch);
  bind_all_reduce(f, s.comm);
  if (s.comm.fused_with_norm && !s.fuses("add_norm")) s.fused.emplace_back("add_norm");
  f.section("expert_exchange", Need::optional, "how routed tokens travel between data-parallel groups", [&](Fields& g) {
    g.choice("by", s.comm.dispatch_all_to_all, {"all_gather", "all_to_all"}, Need::optional,
             "all_gather (and reduce-scatter back) or all_to_all");
    g.number("bytes_per_element", s.comm.dispatch_bytes, Need::optional, Range::between(0.5, 4),
             "number format on the way to the experts; they return in 2 bytes");
  });
  f.section("pipeline", Need::optional, "hand-off between pipeline stages", [&](Fields& g) {
    double seconds = 0;
    g.quantity("host_per_handoff", seconds, Unit::time, Need::optional, Range::not_negative(), "host time of one hand-off");
    s.comm.pipeline_us = seconds * 1e6;
  });
  f.section("extra_cast", Need::optional, "a dtype cast over a foreign buffer, once per layer", [&](Fields& g) {
    g.quantity("bytes", s.extra_cast.bytes, Unit::bytes, Need::required, Range::not_negative(), "moved per call; 0: no cast");
    const std::vector<std::string> kinds{"all", "moe", "dense"};
    int kind = 0;
    g.choice("layers", kind, kinds, Need::optional, "which layers run it");
    s.extra_cast.layers = kinds[static_cast<std::size_t>(kind)];
  });
  f.section("memory", Need::optional, "GPU memory that the engine uses", [&](Fields& g) {
    g.quantity("fraction", s.memory_fraction, Unit::share, Need::optional, Range::between(0.01, 1),
               "share of the GPU's memory");
    g.quantity("reserve", s.reserve_bytes, Unit::bytes, Need::optional, Range::not_negative(),
               "of that: graphs, workspace, activations");
  });
}

Stack read_stack(const Document& doc, Diagnostics& out) {
  Stack stack;
  const std::string base = doc.file.substr(doc.file.find_last_of('/') + 1);
  stack.name = base.substr(0, base.rfind(".yaml"));
  read_map(doc.root, "", out, [&](Fields& f) { bind_stack(f, stack); });
  return stack;
}

Stack load_stack(const std::string& file, Diagnostics& out) { return read_stack(load_document(file, out), out); }

}  // namespace moe
