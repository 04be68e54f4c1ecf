// One reader per format. Each gets the whole text and says with an error why it gives no row.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serving/row.hpp"

namespace moe {

/// "Serving Benchmark Result" blocks of vLLM, SGLang and their forks; several may follow each other.
BenchFile read_result_text(const std::string& text, const std::string& file, const BenchOptions& options,
                           Diagnostics& out);
/// JSON objects, one or one per line: results of vLLM, SGLang, inference-perf and llm-decode-bench, engine
/// arguments.
BenchFile read_result_json(const std::string& text, const std::string& file, const BenchOptions& options,
                           Diagnostics& out);
/// The two that are not one client result per object.
void read_decode_bench(const nlohmann::ordered_json& j, const std::string& file, BenchFile& into,
                       Diagnostics& out);
void read_inference_perf(const nlohmann::ordered_json& j, const std::string& file,
                         const BenchOptions& options, BenchFile& into, Diagnostics& out);
/// Server logs.
BenchFile read_vllm_log(const std::string& text, const std::string& file, const BenchOptions& options,
                        Diagnostics& out);
BenchFile read_sglang_log(const std::string& text, const std::string& file, const BenchOptions& options,
                          Diagnostics& out);
/// t,prompt_throughput,gen_throughput,running,waiting,...: one line per tick.
BenchFile read_throughput_csv(const std::string& text, const std::string& file, const BenchOptions& options,
                              Diagnostics& out);

/// Columns from the engine arguments that vLLM prints (or a JSON file of them).
std::map<std::string, std::string> vllm_facts(const std::string& arguments);
std::map<std::string, std::string> sglang_facts(const std::string& arguments);

}  // namespace moe
