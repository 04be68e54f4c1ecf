#include "serving/steady.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace moe {
namespace {

constexpr double kContextApart = 0.20,
                 kContextTokens =
                     2048;  // windows whose contexts differ less are averaged: half a minute at 60 tok/s
constexpr double kSharing = 0.01;  // prefix cache hits below this share are chance
constexpr const char* kFirst = "without a report before it";

/// "" for a window of steady decode, else why not.
std::string fault(const LogWindow& w, const LogWindow* before, const SteadyRules& rules) {
  if (w.running <= 0 || w.tokens_per_s <= 0) return "idle";
  if (w.prompt_per_s > 0 || w.prompt_before) return "prompts computed";
  if (before == nullptr) return kFirst;
  if (w.time_s >= 0 && before->time_s >= 0 && w.time_s - before->time_s > rules.longest_gap_s)
    return "lines missing before it";
  const bool same = w.running == before->running;
  if (!same && std::abs(w.running - before->running) > rules.running_apart * before->running)
    return "running requests changed";
  if (w.kv_tokens < 0 || before->kv_tokens < 0 || w.expected_tokens < 0) return {};
  const double growth = w.kv_tokens - before->kv_tokens;
  if (growth > 1.5 * w.expected_tokens + rules.kv_resolution)
    return "cache grew faster than the running requests decode";
  if (same && growth < -rules.kv_resolution) return "requests were exchanged";
  return {};
}

/// Windows of one batch size and context.
struct Group {
  long running = 0;
  double context = -1;  ///< per sequence; -1: not known
  std::vector<const LogWindow*> windows;
  bool changing = false, unchecked = false, shared = false;
};

double context_of(const LogWindow& w) { return w.kv_tokens < 0 ? -1 : w.kv_tokens / w.running; }

bool belongs(const Group& g, long running, double context) {
  return g.running == running &&
         std::abs(g.context - context) <= std::max(kContextTokens, kContextApart * context);
}

BenchRow row_of(const Group& g) {
  double tokens = 0, sequences = 0, cached = 0, accepted = 0, low = g.windows[0]->tokens_per_s, high = low;
  for (const LogWindow* w : g.windows) {
    tokens += w->tokens_per_s, sequences += w->running, cached += w->kv_tokens, accepted += w->accept_len;
    low = std::min(low, w->tokens_per_s), high = std::max(high, w->tokens_per_s);
  }
  const auto n = static_cast<double>(g.windows.size());
  BenchRow row;
  row.cells["metric"] = "output_tok_s_total", row.cells["value"] = cell(tokens / n);
  row.cells["concurrency"] = std::to_string(g.running);
  if (g.context >= 0) row.cells["context_tokens"] = fmt::format("{}", std::lround(cached / sequences));
  if (accepted > 0) row.cells["accept_len"] = fmt::format("{:.3g}", accepted / n);
  row.note(fmt::format("{} steady window{} of the log from line {}{}", g.windows.size(), n == 1 ? "" : "s",
                       g.windows[0]->line,
                       n > 1 ? fmt::format(", {} to {} tok/s", cell(low), cell(high)) : ""));
  if (g.changing) row.note("the number of running requests changed a little");
  if (g.unchecked) row.note("nothing tells whether the report was steady");
  if (g.shared && g.context >= 0)
    row.note("context is the cache per request: it is longer where requests share a prompt");
  row.cells["quality"] = g.unchecked ? "C" : n > 1 && !g.changing && !g.shared ? "A" : "B";
  return row;
}

}  // namespace

std::vector<BenchRow> steady_rows(const std::vector<LogWindow>& windows, const SteadyRules& rules,
                                  const std::string& file, Diagnostics& out) {
  std::map<std::string, int> left_out;
  std::vector<Group> groups;
  int kept = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const LogWindow& w = windows[i];
    const LogWindow* before = i == 0 ? nullptr : &windows[i - 1];
    const std::string why = fault(w, before, rules);
    const bool unchecked = why == kFirst && rules.anyway;
    if (!why.empty() && !unchecked) {
      ++left_out[why];
      continue;
    }
    const long running = before == nullptr ? w.running : std::lround((w.running + before->running) / 2.0);
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const Group& g) { return belongs(g, running, context_of(w)); });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{running, context_of(w), {}});
    at->windows.push_back(&w);
    at->changing = at->changing || (before != nullptr && before->running != w.running);
    at->unchecked = at->unchecked || unchecked;
    at->shared = at->shared || (w.prefix_hits > kSharing && w.running > 1);
    ++kept;
  }
  std::vector<BenchRow> rows;
  for (const Group& g : groups) rows.push_back(row_of(g));
  std::string reasons;
  for (const auto& [why, count] : left_out)
    reasons += (reasons.empty() ? "" : ", ") + fmt::format("{} {}", count, why);
  const std::string sentence = fmt::format("{} of {} reports show steady decode{}", kept, windows.size(),
                                           reasons.empty() ? "" : "; left out: " + reasons);
  if (rows.empty())
    out.error(sentence, {file, 0, 0, 1}, "", "hold a fixed number of requests for some tens of seconds");
  else
    out.warning(sentence, {file, 0, 0, 1});
  return rows;
}

}  // namespace moe
