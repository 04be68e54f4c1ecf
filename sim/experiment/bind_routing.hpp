// Where do tokens go? The keys `routing:` and `placement:` of an experiment, and the recorded routing they may name.
//
//   routing: {kind: power_law, alpha: 1.2, similarity: [0, 0.6], seed: 1}
//   routing: {kind: histogram, file: counts.csv}          # beside the experiment
//   placement: {kind: balanced, replicas: 16}
#pragma once
#include "config/fields.hpp"
#include "experiment/experiment.hpp"

namespace moe {

/// The declarations of `routing:`.
void bind_routing(Fields& f, Routing& routing);
/// The declarations of `placement:`. Reads the plan, which must be bound before.
void bind_placement(Fields& f, Placement& placement, const Plan& plan);

/// The facts of a model's MoE block that a router needs.
RouterShape router_shape(const Mlp& mlp);

/// Checks routing against the model and reads routing.file, relative to the experiment's file. `section`: place of the
/// experiment's `routing:`. Returns path and hash of the file read, empty where there is none.
std::pair<std::string, std::string> read_routing(Experiment& e, const Model& model, const Node* section,
                                                 Diagnostics& out);

}  // namespace moe
