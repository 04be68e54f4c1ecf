#include "engine/engine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "program/alone.hpp"
#include "timeline/unfinished.hpp"

namespace moe {

Timeline run(const Program& program, const Resources& resources, Sharing sharing, CapacityRule* rule) {
  Engine engine{program, resources, sharing, rule};
  while (engine.has_work()) engine.advance();
  return engine.timeline();
}

Engine::Engine(const Program& program, const Resources& resources, Sharing sharing, CapacityRule* rule)
    : program_(program),
      links_(program, resources, sharing, rule, timeline_),
      servers_(resources.server_names.size(), program.size()),
      events_(program.size()),
      waits_for_(program.predecessor_count) {
  check_machine(program, resources);
  const std::size_t ops = program.size();
  timeline_.ready.assign(ops, kNever);
  timeline_.start.assign(ops, kNever);
  timeline_.end.assign(ops, kNever);
  timeline_.alone.reserve(ops);
  timeline_.cause.assign(ops, kNoOp);
  timeline_.wait.assign(ops, Wait::start);
  std::vector<Time> no_loss;
  for (std::size_t i = 0; i < ops; ++i) {
    timeline_.alone.push_back(alone_time(program, resources, OpId(i)));
    no_loss.resize(program.path[OpId(i)].size());
    timeline_.lost.push_back(no_loss);
    if (waits_for_[OpId(i)] == 0) become_ready(OpId(i), kNoOp, Wait::start);
  }
}

void Engine::advance() {
  links_.share(now_);
  now_ = std::min(events_.next(), links_.next_end());
  for (const OpId op : links_.ended(now_)) finish(op);
  while (events_.next() == now_) {
    const OpId op = events_.pop();
    links_.carries(op) ? links_.begin(op, now_) : finish(op);  // latency over, or the op itself
  }
}

void Engine::become_ready(OpId op, OpId cause, Wait wait) {
  timeline_.ready[op] = now_;
  timeline_.cause[op] = cause;
  timeline_.wait[op] = wait;
  if (program_.kind[op] == Kind::compute && !servers_.take(program_.server[op], op)) return;
  start(op);
}

void Engine::start(OpId op) {
  timeline_.start[op] = now_;
  events_.push(now_ + (links_.carries(op) ? program_.latency[op] : timeline_.alone[op]), op);
}

void Engine::finish(OpId op) {
  timeline_.end[op] = now_;
  ++ended_;
  ++timeline_.events;
  if (program_.kind[op] == Kind::compute) call_next(op);
  for (const OpId after : program_.successors[op]) {
    if (--waits_for_[after] == 0) become_ready(after, op, Wait::dependency);
  }
}

void Engine::call_next(OpId op) {
  const OpId next = servers_.release(program_.server[op]);
  if (next == kNoOp) return;
  if (timeline_.ready[next] < now_) {
    timeline_.cause[next] = op;
    timeline_.wait[next] = Wait::queue;
  }
  start(next);
}

Timeline Engine::timeline() {
  if (ended_ < program_.size()) throw Stuck("internal error: " + describe_unfinished(program_, timeline_));
  timeline_.makespan = now_;
  return std::move(timeline_);
}

}  // namespace moe
