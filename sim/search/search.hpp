// Which plan is best? Every plan x batch (x speculation) is simulated; what is left is the trade between the speed that
// one user sees and the tokens that all users get, the best plan per goal, and how sure the ranking is.
//
//   SearchResult r = search({"experiments/kimi-k2.5-int4-tp8.yaml", {}, ...});
//   r.front    plans that nobody beats in both tokens/s per user and tokens/s in total
//   r.goals    one winner per goal with runner-up, reason, and the probability that the order is right
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "search/plans.hpp"
#include "sweep/runner.hpp"

namespace moe {

struct SearchRequest {
  std::string file;
  Overrides set;
  std::vector<std::string> axes;      ///< further axes: batch, speculation, ...
  double max_tpot_ms = 0;             ///< 0: no limit
  double min_user_tokens_per_s = 0;
  int min_concurrency = 1;            ///< sequences in flight
  int threads = 0;
};

struct Candidate {
  Row row;
  std::string plan;                   ///< "TP 4 · EP 8 · DP 2"
  double user = 0, total = 0;         ///< tokens/s per sequence and in total
  int sequences = 0;
  double metric(std::string_view name) const;
};

struct Goal {
  std::string name;
  Candidate best, second;             ///< second: the best of another plan; empty plan: none
  std::string reason;                 ///< why the first beats the second
  double sure = 1;                    ///< probability that it does, errors of the two taken as independent
  bool overlap = false;               ///< the 90 % intervals overlap
};

struct SearchResult {
  Study study;
  PlanSpace space;
  std::string model, checkpoint, repository, machine;
  int gpus = 0;
  double price_per_hour = 0, power_watts = 0;   ///< of the machine; 0: unknown
  std::vector<Candidate> front;       ///< fastest for one user first
  std::vector<Candidate> all;         ///< every point within the limits, by point
  std::vector<Goal> goals;
  std::uint64_t points = 0, answered = 0;
  std::map<std::string, std::pair<int, std::string>> no_answer;  ///< rule -> how many, an example
  double seconds = 0;                 ///< wall clock, not part of the JSON

  double dollars_per_million(const Candidate& c) const;
  double joules_per_token(const Candidate& c) const;
};

/// `started(study)` is called before the first point, `sink` with every batch of rows (both may be empty).
SearchResult search(const SearchRequest& request, const std::function<void(const Study&)>& started = {},
                    const std::function<void(const std::vector<Row>&)>& sink = {});

/// Those that nobody beats in both; fastest for one user first.
std::vector<Candidate> pareto_front(std::vector<Candidate> all);
/// Probability that a true time of the first is below that of the second, from medians and 90 % intervals (log-normal).
double probability_faster(double a, double a_low, double a_high, double b, double b_low, double b_high);

}  // namespace moe
