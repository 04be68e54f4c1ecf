// What happens next? A binary heap of (time, sequence): things planned for one instant happen in the order in
// which they were planned, so a run is reproducible to the last bit.
//
// Example: push(5 ps, a); push(3 ps, b); push(5 ps, c) pops b, a, c.
// Push and pop cost O(log pending). Below 1,000 pending events nothing smarter is faster.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "program/program.hpp"

namespace moe {

struct Event {
  Time at;
  std::uint64_t sequence;
  OpId op;
  bool operator>(const Event& other) const {
    return at != other.at ? at > other.at : sequence > other.sequence;
  }
};
static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  /// Never allocates again as long as at most `most_pending` events wait at one time.
  explicit EventQueue(std::size_t most_pending) { heap_.reserve(most_pending); }

  bool empty() const { return heap_.empty(); }
  Time next() const { return heap_.empty() ? kNever : heap_.front().at; }

  void push(Time at, OpId op) {
    heap_.push_back({at, sequence_++, op});
    std::push_heap(heap_.begin(), heap_.end(), std::greater{});
  }
  OpId pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater{});
    const OpId op = heap_.back().op;
    heap_.pop_back();
    return op;
  }

 private:
  std::vector<Event> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace moe
