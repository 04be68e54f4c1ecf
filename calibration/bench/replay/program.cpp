#include "replay/program.hpp"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

using Json = nlohmann::ordered_json;

ReplayOp op_of(const Json& o) {
  ReplayOp op;
  op.id = o.at("id");
  op.rank = o.at("rank");
  op.layer = o.at("layer");
  op.name = o.at("name");
  op.category = o.at("category");
  op.op_class = o.at("class");
  op.format = o.value("format", "");
  op.path = o.value("path", "");
  op.stream = o.at("stream");
  op.weights = o.value("weights", "");
  op.cache = o.value("cache", "");
  for (const auto& [name, value] : o.at("sizes").items()) op.sizes[name] = value;
  op.group = o.value("group", std::vector<int>{});
  op.rows = o.value("rows_per_expert", std::vector<int>{});
  op.simulated_us = o.at("simulated_us");
  return op;
}

}  // namespace

int ReplayOp::whole(const std::string& size) const {
  const auto found = sizes.find(size);
  if (found == sizes.end()) throw Unsupported(fmt::format("`{}` has no size `{}`", name, size));
  if (found->second != std::floor(found->second) || found->second < 0 || found->second > 2e9)
    throw Unsupported(fmt::format("`{}`: {} = {} is not a count", name, size, found->second));
  return static_cast<int>(found->second);
}

double ReplayOp::bytes() const {
  const auto found = sizes.find("bytes");
  if (found == sizes.end()) throw Unsupported(fmt::format("`{}` has no size `bytes`", name));
  return found->second;
}

ReplayProgram load_program(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw BenchError(fmt::format("cannot read `{}`", file));
  try {
    const Json j = Json::parse(in);
    if (j.at("kind") != "moe-sim program" || j.at("schema") != 1)
      throw BenchError(fmt::format("`{}` is no program of `moe-sim run --emit-program` that this release reads", file));
    ReplayProgram p;
    p.file = file;
    p.name = j.at("name");
    p.hash = j.at("hash");
    p.origin = j.at("experiment").dump();
    p.model = j.at("model");
    p.checkpoint = j.at("checkpoint");
    p.stack = j.at("stack");
    p.layers = j.at("layers");
    p.ranks = j.at("ranks");
    p.simulated_step_us = j.at("simulated").at("step_us");
    for (const Json& o : j.at("ops")) p.ops.push_back(op_of(o));
    for (const ReplayOp& op : p.ops)
      if (op.rank < 0 || op.rank >= p.ranks)
        throw BenchError(fmt::format("`{}`: op {} is on rank {} of {}", file, op.id, op.rank, p.ranks));
    return p;
  } catch (const nlohmann::json::exception& e) {
    throw BenchError(fmt::format("`{}` is damaged: {}", file, e.what()));
  }
}

ReplayProgram first_rank_of(ReplayProgram program) {
  if (program.ranks == 1) return program;
  std::erase_if(program.ops, [](const ReplayOp& op) { return op.rank != 0 || !op.group.empty(); });
  program.first_rank_alone = true;
  program.simulated_step_us = 0;
  for (const ReplayOp& op : program.ops) program.simulated_step_us += op.simulated_us;
  return program;
}

}  // namespace moe::bench
