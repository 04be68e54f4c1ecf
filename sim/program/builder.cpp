#include "program/builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"

namespace moe {

namespace {

constexpr std::size_t kMostNames = 0x10000;

[[noreturn]] void reject(const Program& program, OpId op, std::string_view why) {
  throw InternalError(fmt::format("internal error: {} {}", describe(program, op), why));
}

/// Ops that nothing but a circle can hold back: what Kahn's algorithm leaves over.
std::vector<std::uint32_t> left_over(const Program& program) {
  std::vector<std::uint32_t> waits_for(program.predecessor_count.rows());
  std::vector<OpId> free;
  for (std::size_t i = 0; i < waits_for.size(); ++i) {
    if (waits_for[i] == 0) free.push_back(OpId(i));
  }
  while (!free.empty()) {
    const OpId op = free.back();
    free.pop_back();
    for (const OpId after : program.successors[op]) {
      if (--waits_for[index(after)] == 0) free.push_back(after);
    }
  }
  return waits_for;
}

}  // namespace

std::string describe(const Program& program, OpId op) {
  if (index(op) >= program.size()) return fmt::format("op {}", index(op));
  const Label& label = program.label[op];
  const bool has_name = label.name < program.names.size() && !program.names[label.name].empty();
  std::string text = label.layer >= 0 ? fmt::format("L{} ", label.layer) : "";
  text += has_name ? program.names[label.name] : fmt::format("op {}", index(op));
  if (label.source >= 0) text += fmt::format(" gpu{}", label.source);
  if (label.target >= 0) text += fmt::format("{}→gpu{}", label.source >= 0 ? "" : " ", label.target);
  return text;
}

Builder::Builder() { name(""); }

OpId Builder::add(Kind kind, Category category, Label label) {
  program_.category.push_back(category);
  program_.label.push_back(label);
  return program_.kind.push_back(kind);
}

OpId Builder::compute(ServerId server, Time duration, Category category, Label label) {
  program_.server.push_back(server);
  program_.duration.push_back(duration);
  program_.bytes.push_back({});
  program_.latency.push_back({});
  program_.rate_cap.push_back({});
  program_.weight.push_back(1);
  program_.path.push_back({});
  return add(Kind::compute, category, label);
}

OpId Builder::transfer(std::span<const LinkId> path, Bytes bytes, Time latency, Category category,
                       Label label, Bandwidth rate_cap, std::uint32_t weight) {
  program_.server.push_back({});
  program_.duration.push_back({});
  program_.bytes.push_back(bytes);
  program_.latency.push_back(latency);
  program_.rate_cap.push_back(rate_cap);
  program_.weight.push_back(weight);
  program_.path.push_back(path);
  return add(Kind::transfer, category, label);
}

OpId Builder::join(Label label) {
  program_.server.push_back({});
  program_.duration.push_back({});
  program_.bytes.push_back({});
  program_.latency.push_back({});
  program_.rate_cap.push_back({});
  program_.weight.push_back(1);
  program_.path.push_back({});
  return add(Kind::join, Category::host, label);
}

void Builder::order(OpId before, OpId after) { edges_.push_back({before, after}); }

std::uint16_t Builder::name(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  MOE_CHECK(program_.names.size() < kMostNames, "a program has at most 65536 names");
  const auto number = static_cast<std::uint16_t>(program_.names.size());
  program_.names.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

Program Builder::seal() {
  MOE_CHECK(program_.size() < index(kNoOp), "a program has fewer ops than there are ids");
  for (std::size_t i = 0; i < program_.size(); ++i) check_op(OpId(i));
  check_edges();
  connect();
  check_no_cycle();
  Program sealed = std::move(program_);
  *this = Builder{};
  return sealed;
}

void Builder::check_op(OpId op) const {
  const auto is_size = [](double x) { return std::isfinite(x) && x >= 0; };
  if (program_.label[op].name >= program_.names.size()) reject(program_, op, "has a name that nobody gave");
  if (program_.duration[op] < Time{0}) reject(program_, op, "takes less than no time");
  if (program_.latency[op] < Time{0}) reject(program_, op, "has a negative latency");
  if (!is_size(program_.bytes[op].count)) reject(program_, op, "moves a number of bytes that is no size");
  if (!is_size(program_.rate_cap[op].bytes_per_second))
    reject(program_, op, "has a rate cap that is no rate");
  if (program_.weight[op] < 1) reject(program_, op, "has no weight");
  const auto path = program_.path[op];
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (std::find(path.begin(), path.begin() + std::ptrdiff_t(i), path[i]) !=
        path.begin() + std::ptrdiff_t(i))
      reject(program_, op, fmt::format("crosses link {} twice", index(path[i])));
  }
}

void Builder::check_edges() const {
  for (const auto [before, after] : edges_) {
    if (index(before) < program_.size() && index(after) < program_.size()) continue;
    throw InternalError(
        fmt::format("internal error: {} is ordered before {}, but the program has only {} ops",
                    describe(program_, before), describe(program_, after), program_.size()));
  }
}

/// Edges to successor lists (counting sort by `before`), each list in id order and without duplicates.
void Builder::connect() {
  std::vector<std::uint32_t> ends(program_.size() + 1, 0);
  for (const Edge& edge : edges_) ++ends[index(edge.before) + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::vector<OpId> after(edges_.size());
  for (const Edge& edge : edges_) after[ends[index(edge.before)]++] = edge.after;

  program_.predecessor_count.assign(program_.size(), 0);
  std::size_t from = 0;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    const auto first = after.begin() + std::ptrdiff_t(from), last = after.begin() + std::ptrdiff_t(ends[i]);
    std::sort(first, last);
    const std::span<const OpId> row(first, std::unique(first, last));
    for (const OpId op : row) ++program_.predecessor_count[op];
    program_.successors.push_back(row);
    from = ends[i];
  }
}

/// Edges that all point forward in build order cannot close a circle; only otherwise is it worth a search.
void Builder::check_no_cycle() const {
  if (std::all_of(edges_.begin(), edges_.end(), [](const Edge& e) { return e.before < e.after; })) return;
  const std::vector<std::uint32_t> waits_for = left_over(program_);
  std::vector<OpId> held_by(program_.size(), kNoOp);
  OpId op = kNoOp;
  for (const auto [before, after] : edges_) {
    if (waits_for[index(before)] == 0 || waits_for[index(after)] == 0) continue;
    held_by[index(after)] = op = before;
  }
  if (op == kNoOp) return;
  // Every op left over is held by another one, so walking back as many steps as there are ops ends on a
  // circle.
  for (std::size_t i = 0; i < program_.size(); ++i) op = held_by[index(op)];
  std::string circle = describe(program_, op);
  for (OpId at = held_by[index(op)]; at != op; at = held_by[index(at)]) {
    circle += " waits for " + describe(program_, at);
  }
  throw InternalError(
      fmt::format("internal error: ops wait in a circle: {} waits for {}", circle, describe(program_, op)));
}

}  // namespace moe
