#include "search/flags.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace moe {
namespace {

int expert_ranks(const Plan& p) { return std::max(p.ep, p.moe_ep); }
int per_replica(const Launchable& w) { return (w.sequences + w.plan.replicas - 1) / w.plan.replicas; }

void add(std::string& command, const char* flag, int value, int unless) {
  if (value != unless) command += fmt::format(" {} {}", flag, value);
}

void add_fraction(std::string& command, const char* flag, double value) {
  if (value > 0) command += fmt::format(" {} {:.2f}", flag, value);
}

void note_replicas(const Launchable& w, std::vector<std::string>& notes) {
  if (w.plan.replicas > 1)
    notes.push_back(fmt::format("start {} of these, each with its own {} GPUs (CUDA_VISIBLE_DEVICES) and port, behind a load balancer",
                                w.plan.replicas, w.plan.gpus() / w.plan.replicas));
}

using Method = Speculation::Method;

int drafts_of(const Launchable& w) { return w.speculation.drafts(per_replica(w)); }

/// vLLM: one JSON object. Names of its SpeculativeConfig (docs.vllm.ai, features/spec_decode).
void add_vllm_draft(const Launchable& w, LaunchFlags& out) {
  const int k = drafts_of(w);
  if (k == 0) return;
  const Method m = w.speculation.method;
  if (m == Method::block) return out.notes.push_back("vLLM names a block draft by its own method: see the draft's page");
  const char* method = m == Method::mtp ? "mtp" : m == Method::eagle3 ? "eagle3" : m == Method::ngram ? "ngram" : "draft_model";
  std::string config = fmt::format("\"method\": \"{}\", \"num_speculative_tokens\": {}", method, k);
  if (!w.draft_repository.empty()) config += fmt::format(", \"model\": \"{}\"", w.draft_repository);
  if (m == Method::model) config += fmt::format(", \"draft_tensor_parallel_size\": {}", w.speculation.tp > 0 ? w.speculation.tp : w.plan.tp);
  if (m == Method::ngram) config += ", \"prompt_lookup_max\": 4";
  out.command += " --speculative-config '{" + config + "}'";
  if (w.speculation.tree_budget > 0) out.notes.push_back("vLLM verifies a chain; the tree of this experiment cannot be asked for");
}

/// SGLang: separate flags (docs.sglang.ai, advanced features, speculative decoding). Its MTP layers run as EAGLE.
void add_sglang_draft(const Launchable& w, LaunchFlags& out) {
  const int k = drafts_of(w);
  if (k == 0) return;
  const Method m = w.speculation.method;
  if (m == Method::block) return out.notes.push_back("SGLang names a block draft by its own algorithm: see the draft's page");
  const char* algorithm = m == Method::mtp ? "EAGLE" : m == Method::eagle3 ? "EAGLE3" : m == Method::ngram ? "NGRAM" : "STANDALONE";
  out.command += fmt::format(" --speculative-algorithm {}", algorithm);
  if (!w.draft_repository.empty()) out.command += " --speculative-draft-model-path " + w.draft_repository;
  const bool tree = w.speculation.tree_budget > 0;
  if (m != Method::ngram) out.command += fmt::format(" --speculative-num-steps {} --speculative-eagle-topk {}", k, tree ? w.speculation.tree_width : 1);
  out.command += fmt::format(" --speculative-num-draft-tokens {}", tree ? w.speculation.tree_budget : k + 1);
}

}  // namespace

LaunchFlags vllm_flags(const Launchable& w) {
  const Plan& p = w.plan;
  LaunchFlags out{"vllm serve " + w.repository, {}};
  add(out.command, "--tensor-parallel-size", p.tp, 0);
  add(out.command, "--data-parallel-size", p.dp, 1);
  add(out.command, "--pipeline-parallel-size", p.pp, 1);
  add(out.command, "--decode-context-parallel-size", p.dcp, 1);
  if (expert_ranks(p) > 1) out.command += " --enable-expert-parallel";
  if (p.overlap == Overlap::two_batch) out.command += " --enable-dbo";
  if (w.fp8_kv) out.command += " --kv-cache-dtype fp8";
  add(out.command, "--max-num-seqs", (per_replica(w) + p.dp - 1) / p.dp, 0);
  add(out.command, "--max-model-len", w.context, 0);
  add_fraction(out.command, "--gpu-memory-utilization", w.memory_fraction);
  add_vllm_draft(w, out);
  if (expert_ranks(p) > 1 && expert_ranks(p) != p.tp * p.dp)
    out.notes.push_back(fmt::format("vLLM spreads experts over all tp x dp = {} ranks; ep {} cannot be asked for", p.tp * p.dp, expert_ranks(p)));
  note_replicas(w, out.notes);
  return out;
}

LaunchFlags sglang_flags(const Launchable& w) {
  const Plan& p = w.plan;
  LaunchFlags out{"python3 -m sglang.launch_server --model-path " + w.repository, {}};
  add(out.command, "--tp-size", p.tp * p.dp, 0);
  if (p.dp > 1) out.command += fmt::format(" --dp-size {} --enable-dp-attention", p.dp);
  add(out.command, "--ep-size", expert_ranks(p), 1);
  add(out.command, "--pp-size", p.pp, 1);
  if (p.overlap == Overlap::two_batch) out.command += " --enable-two-batch-overlap";
  if (w.fp8_kv) out.command += " --kv-cache-dtype fp8_e4m3";
  add(out.command, "--max-running-requests", per_replica(w), 0);
  add(out.command, "--context-length", w.context, 0);
  add_fraction(out.command, "--mem-fraction-static", w.memory_fraction);
  add_sglang_draft(w, out);
  if (p.dcp > 1) out.notes.push_back(fmt::format("SGLang has no flag for decode context parallelism (dcp {})", p.dcp));
  note_replicas(w, out.notes);
  return out;
}

}  // namespace moe
