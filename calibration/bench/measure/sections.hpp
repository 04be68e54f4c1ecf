// What can be measured on one GPU. A section skips what the device lacks, with the reason, and throws only on faults.
#pragma once
#include "harness/session.hpp"

namespace moe::bench {

struct Section {
  const char* name;
  const char* what;  ///< for --help
  void (*run)(Session&);
};
const std::vector<Section>& sections();

void measure_launch(Session& session);      ///< launch.csv
void measure_bandwidth(Session& session);   ///< bandwidth.csv
void measure_gemm(Session& session);        ///< gemm.csv
void measure_moe(Session& session);         ///< moe.csv
void measure_stages(Session& session);      ///< moe_stages.csv: the stages of a few of them
void measure_gqa(Session& session);         ///< attention_decode.csv
void measure_mla(Session& session);         ///< mla_decode.csv
void measure_bmm(Session& session);         ///< mla_bmm.csv
void measure_cast(Session& session);        ///< cast.csv
void measure_linear(Session& session);      ///< linear_attention.csv
void measure_small(Session& session);       ///< elementwise.csv

}  // namespace moe::bench
