#include "cli/declarations.hpp"

#include "cost/load_gpu.hpp"
#include "cost/load_profile.hpp"
#include "experiment/experiment.hpp"
#include "kineto/rules.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "stack/load.hpp"
#include "validate/mapping.hpp"

namespace moe {

std::vector<Declarations> all_declarations() {
  Experiment e;
  Model m;
  Profile p;
  Stack k;
  KernelRules rules;
  std::string gpu;
  Mapping v;
  return {{"experiment", "Files in experiments/, or anywhere.", describe([&](Fields& f) { bind_experiment(f, e); })},
          {"model", "Files in models/.", describe([&](Fields& f) { bind_model(f, m); })},
          {"machine", "Files in topologies/.", describe_machine()},
          {"gpu", "Files in calibration/gpus/: datasheet facts.", describe_gpu()},
          {"profile", "Files in calibration/profiles/, written by `moe-sim fit`.", describe([&](Fields& f) { bind_profile(f, p, gpu); })},
          {"stack", "Files in calibration/stacks/.", describe([&](Fields& f) { bind_stack(f, k); })},
          {"mapping", "Files in calibration/mappings/, read by `moe-sim validate`.", describe([&](Fields& f) { bind_mapping(f, v); })},
          {"kernel_rules", "calibration/mappings/kernels.yaml, or `moe-sim import-trace --rules FILE`.", describe([&](Fields& f) { bind_kernel_rules(f, rules); })}};
}

}  // namespace moe
