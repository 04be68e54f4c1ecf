// How is a plan started? The command lines of vLLM and SGLang for a plan that the search chose.
//
//   vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --enable-expert-parallel --kv-cache-dtype fp8 ...
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "workload/speculation.hpp"

namespace moe {

struct Launchable {
  std::string repository;
  Plan plan;
  int sequences = 1;
  int context = 0;             ///< longest, in tokens
  bool fp8_kv = false;
  double memory_fraction = 0;  ///< 0: the engine's default
  Speculation speculation{};   ///< k 0: none
  std::string draft_repository{};  ///< draft head or model; empty where the target drafts itself
};

struct LaunchFlags {
  std::string command;
  std::vector<std::string> notes;  ///< what the engine cannot express, or does differently
};
LaunchFlags vllm_flags(const Launchable& what);
LaunchFlags sglang_flags(const Launchable& what);

}  // namespace moe
