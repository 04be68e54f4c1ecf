#include "search/plans.hpp"

#include <fmt/core.h>

namespace moe {
namespace {

std::vector<int> divisors(int n) {
  std::vector<int> out;
  for (int d = 1; d <= n; ++d)
    if (n % d == 0) out.push_back(d);
  return out;
}

std::vector<std::string> values_of(const Plan& p) {
  auto text = [](int v) { return std::to_string(v); };
  return {text(p.tp), text(p.ep), text(p.dp), text(p.pp), text(p.dcp), text(p.replicas),
          p.overlap == Overlap::two_batch ? "two_batch" : "none"};
}

/// The rule is what stands before the colon of its sentence.
std::string rule_of(const std::string& sentence) { return sentence.substr(0, sentence.find(':')); }

class Space {
 public:
  Space(const Model& model, const Checkpoint& checkpoint) : model_(model), checkpoint_(checkpoint) { out_.axis.keys = kPlanKeys; }

  void add(const Plan& plan) {
    ++out_.candidates;
    const std::vector<std::string> rules = broken_rules(plan, model_, checkpoint_);
    const std::string later = not_simulated(plan, model_);
    if (!rules.empty()) ++out_.dropped[rule_of(rules[0])];
    else if (!later.empty()) ++out_.dropped[later];
    else out_.axis.values.push_back(values_of(plan));
  }
  PlanSpace take() { return std::move(out_); }

 private:
  const Model& model_;
  const Checkpoint& checkpoint_;
  PlanSpace out_;
};

}  // namespace

PlanSpace plan_space(const Model& model, const Checkpoint& checkpoint, int gpus) {
  Space space(model, checkpoint);
  for (const int tp : divisors(gpus))
    for (const int dp : divisors(gpus / tp))
      for (const int pp : divisors(gpus / tp / dp))
        for (const int ep : divisors(tp * dp))
          for (const int dcp : divisors(tp))
            for (const Overlap overlap : {Overlap::none, Overlap::two_batch}) {
              Plan p;
              p.tp = tp, p.dp = dp, p.pp = pp, p.ep = ep, p.dcp = dcp, p.overlap = overlap;
              p.replicas = gpus / (tp * dp * pp);
              // Groups with experts of their own are replicas by another name.
              if (dp > 1 && ep == 1) continue;
              space.add(p);
            }
  return space.take();
}

Plan plan_of(const std::vector<std::string>& v) {
  Plan p;
  int* const degrees[] = {&p.tp, &p.ep, &p.dp, &p.pp, &p.dcp, &p.replicas};
  for (std::size_t i = 0; i < std::size(degrees); ++i) *degrees[i] = std::stoi(v.at(i));
  p.overlap = v.at(6) == "two_batch" ? Overlap::two_batch : Overlap::none;
  return p;
}

}  // namespace moe
