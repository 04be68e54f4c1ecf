// Closed forms of ops on servers: who waits for whom, and what is written down about it.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"
#include "timeline/critical_path.hpp"

using namespace moe;

namespace {

OpId work(Builder& b, int server, double us) {
  return b.compute(ServerId(server), from_us(us), Category::attention, {b.name("work")});
}

}  // namespace

TEST_CASE("a pipeline of n stages ends after the first item's way plus one slowest stage per further item",
          "[analytic]") {
  // 4 items through stages of 3, 7 and 5 us: 3 + 7 + 5 + (4 - 1) x 7 = 36 us.
  const double stage_us[] = {3, 7, 5};
  Builder b;
  for (int item = 0; item < 4; ++item) {
    OpId before = kNoOp;
    for (int stage = 0; stage < 3; ++stage) {
      const OpId op = work(b, stage, stage_us[stage]);
      if (stage > 0) b.order(before, op);
      before = op;
    }
  }
  const Timeline t = run(b.seal(), machine(3, {}), Sharing::max_min);
  CHECK(t.makespan == from_us(36));
  CHECK(t.events == 12);
}

TEST_CASE("a server serves in the order of getting ready, whatever the order of building", "[analytic]") {
  // Server 0 is held until 10 us. `late` is built first but gets ready at 5 us, `early` at 2 us.
  Builder b;
  const OpId late = work(b, 0, 1), early = work(b, 0, 1), holder = work(b, 0, 10);
  const OpId at5 = work(b, 1, 5), at2 = work(b, 2, 2);
  b.order(at5, late);
  b.order(at2, early);
  const Timeline t = run(b.seal(), machine(3, {}), Sharing::max_min);
  CHECK(t.ready[early] == from_us(2));
  CHECK(t.start[early] == from_us(10));
  CHECK(t.ready[late] == from_us(5));
  CHECK(t.start[late] == from_us(11));
  CHECK(t.cause[early] == holder);
  CHECK(t.cause[late] == early);
  CHECK(t.wait[late] == Wait::queue);
}

TEST_CASE("ops that get ready at one instant are served in id order", "[analytic]") {
  Builder b;
  const OpId gate = work(b, 0, 1), first = work(b, 1, 2), second = work(b, 1, 2);
  b.order(gate, second);  // said in the other order on purpose
  b.order(gate, first);
  const Timeline t = run(b.seal(), machine(2, {}), Sharing::max_min);
  CHECK(t.start[first] == from_us(1));
  CHECK(t.start[second] == from_us(3));
}

TEST_CASE("every op knows why it started when it did", "[analytic]") {
  Builder b;
  const OpId at_start = work(b, 0, 4), queued = work(b, 0, 2), other = work(b, 1, 1), after = work(b, 1, 3);
  b.order(other, after);
  b.order(at_start, after);
  const Timeline t = run(b.seal(), machine(2, {}), Sharing::max_min);
  CHECK(t.wait[at_start] == Wait::start);
  CHECK(t.cause[at_start] == kNoOp);
  CHECK(t.wait[queued] == Wait::queue);
  CHECK(t.cause[queued] == at_start);
  CHECK(t.wait[after] == Wait::dependency);  // its last predecessor, not its first
  CHECK(t.cause[after] == at_start);
}

TEST_CASE("a server that gets free at the very moment an op gets ready is no reason to wait", "[analytic]") {
  // first -> second on one server: the server is released at the moment second gets ready.
  Builder b;
  const OpId first = work(b, 0, 4), second = work(b, 0, 2);
  b.order(first, second);
  const Timeline t = run(b.seal(), machine(1, {}), Sharing::max_min);
  CHECK(t.start[second] == from_us(4));
  CHECK(t.wait[second] == Wait::dependency);
}

TEST_CASE("a join ends when its last predecessor has ended and takes no time", "[analytic]") {
  Builder b;
  const OpId fast = work(b, 0, 1), slow = work(b, 1, 6), both = b.join({}), next = work(b, 0, 1);
  b.order(fast, both);
  b.order(slow, both);
  b.order(both, next);
  const Timeline t = run(b.seal(), machine(2, {}), Sharing::max_min);
  CHECK(t.start[both] == from_us(6));
  CHECK(t.end[both] == from_us(6));
  CHECK(t.cause[both] == slow);
  CHECK(t.start[next] == from_us(6));
}

TEST_CASE("ops that take no time work in chains and in queues", "[analytic]") {
  Builder b;
  const OpId first = work(b, 0, 0), second = work(b, 0, 0), third = work(b, 0, 3);
  b.order(first, second);
  const Timeline t = run(b.seal(), machine(1, {}), Sharing::max_min);
  CHECK(t.end[second] <= from_us(3));  // ready at 0 like the third, but later in line
  CHECK(t.end[third] == from_us(3));
  CHECK(t.makespan == from_us(3));
}

TEST_CASE("an empty program takes no time", "[analytic]") {
  const Program nothing = Builder{}.seal();
  const Timeline t = run(nothing, machine(0, {}), Sharing::max_min);
  CHECK(t.makespan == Time{0});
  CHECK(critical_path(nothing, t).empty());
}

TEST_CASE("a transfer overlaps with computing on the server that sent it", "[analytic]") {
  // 10 us, then 1 MB over 50 GB/s (20 us) beside another 15 us of computing: 30 us.
  Builder b;
  const OpId a = work(b, 0, 10), beside = work(b, 0, 15);
  const OpId sent = b.transfer(links({0}), Bytes{1e6}, Time{0}, Category::pipeline, {b.name("send")});
  b.order(a, beside);
  b.order(a, sent);
  const Timeline t = run(b.seal(), machine(1, {50}), Sharing::max_min);
  CHECK(t.end[beside] == from_us(25));
  CHECK(t.end[sent] == from_us(30));
  CHECK(t.makespan == from_us(30));
}

TEST_CASE("a program that cannot end says which ops are left and what they wait for", "[analytic]") {
  Builder b;
  const std::uint16_t dispatch = b.name("dispatch"), experts = b.name("experts"), norm = b.name("norm");
  const OpId first = b.compute(ServerId{0}, from_us(1), Category::small_kernels, {norm, 17, 1});
  const OpId sent = b.transfer(links({0}), Bytes{1}, Time{0}, Category::all_to_all, {dispatch, 17, 3, 5});
  const OpId computed = b.compute(ServerId{0}, from_us(1), Category::experts, {experts, 17, 5});
  b.order(first, sent);
  b.order(sent, computed);
  Program program = b.seal();
  ++program.predecessor_count[sent];  // a sealed program always ends, so break it by hand
  const std::string message = message_of([&] { run(program, machine(1, {10}), Sharing::max_min); });
  CHECK_THROWS_AS(run(program, machine(1, {10}), Sharing::max_min), Stuck);
  CHECK(message ==
        "internal error: the program came to rest with 2 of 3 ops left\n"
        "  L17 dispatch gpu3→gpu5 waits for a predecessor that is not in the program\n"
        "  L17 experts gpu5 waits for L17 dispatch gpu3→gpu5");
}

TEST_CASE("a server or link that the machine lacks is named with its op", "[analytic]") {
  Builder b;
  work(b, 3, 1);
  const Program computes = b.seal();
  CHECK(contains(message_of([&] { run(computes, machine(3, {}), Sharing::max_min); }),
                 "work uses server 3, which the machine does not have"));
  b.transfer(links({7}), Bytes{1}, Time{0}, Category::pipeline, {b.name("send"), 2, 0, 1});
  const Program sends = b.seal();
  CHECK(contains(message_of([&] { run(sends, machine(3, {10}), Sharing::max_min); }),
                 "L2 send gpu0→gpu1 uses link 7"));
}
