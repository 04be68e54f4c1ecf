// How is a step written down? Ops are added one by one, ordered, then sealed into a Program.
//
// Example: gpu0 computes 10 us, sends 1 MB to gpu1 over two links, gpu1 computes 5 us:
//
//   Builder b;
//   const std::uint16_t attention = b.name("attention"), send = b.name("send");
//   auto a = b.compute(ServerId{0}, from_us(10), Category::attention, {attention, 17, 0});
//   auto t = b.transfer(path, Bytes{1e6}, from_us(1), Category::pipeline, {send, 17, 0, 1});
//   auto c = b.compute(ServerId{1}, from_us(5), Category::attention, {attention, 18, 1});
//   b.order(a, t);
//   b.order(t, c);
//   Program p = b.seal();         // describe(p, t) == "L17 send gpu0→gpu1"
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"

namespace moe {

class Builder {
 public:
  Builder();

  /// An op that holds `server` for `duration`.
  OpId compute(ServerId server, Time duration, Category category, Label label);

  /// An op that waits `latency`, then moves `bytes` over all links of `path` at once. A flow never runs
  /// faster than `rate_cap` (0: no limit of its own), and gets `weight` parts of a link that is full. With an empty
  /// path it takes its latency.
  OpId transfer(std::span<const LinkId> path, Bytes bytes, Time latency, Category category, Label label,
                Bandwidth rate_cap = {}, std::uint32_t weight = 1);

  /// An op that takes no time: it gathers many predecessors so that others can wait for one op.
  OpId join(Label label);

  /// `after` is ready only when `before` has ended. Saying it twice is the same as saying it once.
  void order(OpId before, OpId after);

  /// The number of a name, for Label::name. The same text gives the same number; 0 is "no name".
  std::uint16_t name(std::string_view text);

  /// The finished program; the builder is empty afterwards. Throws InternalError that names the ops when an
  /// op is malformed, an edge points outside the program, or ops wait for each other in a circle.
  Program seal();

 private:
  struct Edge {
    OpId before, after;
  };
  OpId add(Kind kind, Category category, Label label);
  void check_op(OpId op) const;
  void check_edges() const;
  void connect();
  void check_no_cycle() const;

  Program program_;
  std::vector<Edge> edges_;
  std::map<std::string, std::uint16_t, std::less<>> numbers_;
};

}  // namespace moe
