#include "replay/rank.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kRoom = 3ull << 30;  // left to the driver, cuBLASLt and NCCL

double size_or(const ReplayOp& op, const char* name, double other) {
  const auto found = op.sizes.find(name);
  return found == op.sizes.end() ? other : found->second;
}

/// Bytes of the largest activation that an op reads or writes.
double activation_bytes(const ReplayOp& op) {
  double most = size_or(op, "bytes", 0);
  const double rows = size_or(op, "rows", 0);
  most = std::max(most, 2 * size_or(op, "m", 0) * std::max(size_or(op, "n", 0), size_or(op, "k", 0)));
  most = std::max(most, 2 * size_or(op, "tokens", 0) * size_or(op, "hidden", 0));
  most = std::max(most, 2 * size_or(op, "sequences", 0) * size_or(op, "heads", 0) * size_or(op, "score_dim", 0));
  return std::max(most, 2 * rows * size_or(op, "heads", 0) * std::max(size_or(op, "k", 0), size_or(op, "n", 0)));
}

}  // namespace

Rank::Rank(const ReplayProgram& program, int rank) : ranks_(program.ranks) {
  double activation = 1 << 20, width = 0;
  int rows = 1;
  for (const ReplayOp& op : program.ops) {
    activation = std::max(activation, activation_bytes(op));
    width = std::max({width, size_or(op, "width", 0), size_or(op, "hidden", 0)});
    rows = std::max({rows, static_cast<int>(size_or(op, "rows", 0)), static_cast<int>(size_or(op, "tokens", 0))});
  }
  const auto room = static_cast<std::size_t>(activation) + 4096;
  for (Buffer* b : {&activations_[0], &activations_[1], &residual_, &side_}) *b = Buffer(room, Fill::small_bf16, 7);
  norm_weight_ = Buffer(static_cast<std::size_t>(2 * width) + 4096, Fill::normal_bf16, 8);
  integers_ = Buffer(static_cast<std::size_t>(rows) * sizeof(int) + 4096, Fill::zero);
  // Caches first: the writes of a layer come before its attention.
  for (const ReplayOp& op : program.ops) {
    if (op.rank != rank || op.cache.empty() || !refusal(op).empty()) continue;
    const double bytes = op.sizes.at("sequences") * op.sizes.at("context") * op.sizes.at("kv_row_bytes");
    void* data = cache(op.cache, static_cast<std::size_t>(bytes));
    cache_of_layer_[fmt::format("L{}", op.layer)] = {static_cast<bf16*>(data), static_cast<std::size_t>(bytes)};
  }
  for (const ReplayOp& op : program.ops)
    if (op.rank == rank) steps_.push_back(prepare(op));
  BENCH_CHECK(cudaDeviceSynchronize());
}

void* Rank::weights(const std::string& name, std::size_t bytes, Fill kind) {
  const auto found = weights_.find(name);
  if (found != weights_.end()) return found->second.as();
  std::size_t free = 0, all = 0;
  BENCH_CHECK(cudaMemGetInfo(&free, &all));
  if (bytes + kRoom > free)
    throw Unsupported(fmt::format("`{}` needs {:.1f} GB, {:.1f} of {:.1f} GB are free: fewer layers", name,
                                  static_cast<double>(bytes) * 1e-9, static_cast<double>(free) * 1e-9,
                                  static_cast<double>(all) * 1e-9));
  weight_bytes_ += bytes;
  return weights_.emplace(name, Buffer(bytes, kind, weights_.size() + 100)).first->second.as();
}

void* Rank::cache(const std::string& name, std::size_t bytes) {
  const auto found = caches_.find(name);
  if (found != caches_.end()) return found->second.as();
  std::size_t free = 0, all = 0;
  BENCH_CHECK(cudaMemGetInfo(&free, &all));
  if (bytes + kRoom > free)
    throw Unsupported(fmt::format("cache `{}` needs {:.1f} GB, {:.1f} GB are free: fewer layers or tokens", name,
                                  static_cast<double>(bytes) * 1e-9, static_cast<double>(free) * 1e-9));
  cache_bytes_ += bytes;
  return caches_.emplace(name, Buffer(bytes, Fill::normal_bf16, caches_.size() + 50)).first->second.as();
}

void* Rank::scratch(const ReplayOp& op, std::size_t bytes) {
  std::string key = op.name;
  for (const auto& [name, value] : op.sizes) key += fmt::format(" {}={}", name, value);
  const auto found = scratch_.find(key);
  if (found != scratch_.end() && found->second.bytes() >= bytes) return found->second.as();
  if (found != scratch_.end()) kept_.push_back(std::move(found->second));
  return (scratch_[key] = Buffer(bytes, Fill::zero)).as();
}

Rank::Step Rank::prepare(const ReplayOp& op) {
  if (const std::string why = refusal(op); !why.empty()) throw Unsupported(fmt::format("`{}`: {}", op.name, why));
  if (!op.group.empty()) {
    if (static_cast<int>(op.group.size()) != ranks_) throw Unsupported("collectives among some of the ranks");
    const Step step{&op, {}, current(), next()};
    turn();
    return step;
  }
  if (op.op_class == "dense") return {&op, dense(op)};
  if (op.op_class == "experts") return {&op, experts(op)};
  if (op.op_class == "gqa" || op.op_class == "mla") return {&op, attention(op)};
  if (op.op_class == "absorb") return {&op, absorb(op)};
  return {&op, small(op)};
}

}  // namespace moe::bench
