// What do the pictures of a report need beyond result.json? One layer op by op, traffic between GPUs, the machine with
// the load of its links, and the work of every kernel. Kept under `detail` of result.json as `run --out` writes it.
#pragma once
#include <nlohmann/json.hpp>

#include "report/result.hpp"

namespace moe {

/// {"layer": {"number", "ops": [{"name", "server", "category", "start_us", "us", "wait", "waited_us", "cause"}]},
///  "traffic": {"gpus", "MB": [[...]]}, "machine": {"devices", "links"}, "kernels": [{"name", "category", "calls",
///  "flop", "dram_bytes", "us", "peak_tflops"}], "dram_GBps"}
nlohmann::ordered_json detail_json(const Case& c, const Result& r);

}  // namespace moe
