// The rows of a study for other programs and for people. Byte-identical for the same inputs, whatever computed them.
//
//   point,status,plan.tp,batch.sequences,step_ms,tpot_ms,...,reason
//   0,ok,1,1,22.31,22.31,...,
//   1,infeasible,2,1,,,...,"does not fit: GPU 0 needs 141.00 GiB ..."
#pragma once
#include <ostream>

#include "sweep/store.hpp"

namespace moe {

void write_csv(const Store& store, std::ostream& out);
/// {"schema": 1, "experiment": ..., "axes": ..., "points": [{"point": 0, "status": "ok", "axes": {...}, metrics}, ...]}
void write_json(const Store& store, std::ostream& out);

/// The end of `moe-sim sweep`: counts, the best points (all, when there are few), and why some have no answer.
std::string sweep_text(const Store& store);

}  // namespace moe
