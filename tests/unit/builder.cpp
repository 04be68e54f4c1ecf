// What the builder promises and what it refuses.
#include "program/builder.hpp"

#include <cmath>

#include "base/check.hpp"
#include "catch.hpp"
#include "machines.hpp"

using namespace moe;

namespace {

OpId work(Builder& b, std::string_view name, int layer = -1, int source = -1) {
  return b.compute(ServerId{0}, from_us(1), Category::attention,
                   {b.name(name), static_cast<std::int16_t>(layer), static_cast<std::int16_t>(source)});
}

std::string refusal(Builder& b) {
  return message_of([&] { b.seal(); });
}

}  // namespace

TEST_CASE("an op is described by layer, name, source and target", "[unit]") {
  Builder b;
  const OpId all = work(b, "all_reduce", 17, 3), bare = work(b, "lm_head"), unnamed = b.join({});
  const OpId sent =
      b.transfer(links({0}), Bytes{1}, Time{0}, Category::all_to_all, {b.name("dispatch"), 17, 3, 5});
  const OpId got =
      b.transfer(links({0}), Bytes{1}, Time{0}, Category::all_to_all, {b.name("get"), -1, -1, 5});
  const Program p = b.seal();
  CHECK(describe(p, all) == "L17 all_reduce gpu3");
  CHECK(describe(p, sent) == "L17 dispatch gpu3→gpu5");
  CHECK(describe(p, got) == "get →gpu5");
  CHECK(describe(p, bare) == "lm_head");
  CHECK(describe(p, unnamed) == "op 2");
  CHECK(describe(p, OpId{99}) == "op 99");
}

TEST_CASE("the same name gives the same number", "[unit]") {
  Builder b;
  const auto first = b.name("attention"), second = b.name("experts");
  CHECK(first != second);
  CHECK(b.name("attention") == first);
  CHECK(b.seal().names[second] == "experts");
}

TEST_CASE("a sealed program holds what was said", "[unit]") {
  Builder b;
  const OpId a = work(b, "a");
  const OpId t = b.transfer(links({0, 3}), Bytes{1e6}, from_us(2), Category::pipeline, {}, from_GBps(5));
  const OpId c = b.join({});
  b.order(a, c);
  b.order(a, t);
  b.order(t, c);
  const Program p = b.seal();
  REQUIRE(p.size() == 3);
  CHECK(p.kind[t] == Kind::transfer);
  CHECK(p.path[t].size() == 2);
  CHECK(p.path[t][1] == LinkId{3});
  CHECK(p.bytes[t] == Bytes{1e6});
  CHECK(p.latency[t] == from_us(2));
  CHECK(p.rate_cap[t] == from_GBps(5));
  CHECK(p.duration[a] == from_us(1));
  CHECK(p.successors[a].size() == 2);
  CHECK(p.successors[a][0] == t);  // in id order
  CHECK(p.predecessor_count[c] == 2);
}

TEST_CASE("an edge said twice is one edge", "[unit]") {
  Builder b;
  const OpId a = work(b, "a"), c = work(b, "c");
  b.order(a, c);
  b.order(a, c);
  const Program p = b.seal();
  CHECK(p.successors[a].size() == 1);
  CHECK(p.predecessor_count[c] == 1);
}

TEST_CASE("edges may point backwards in build order", "[unit]") {
  Builder b;
  const OpId late = work(b, "late"), early = work(b, "early");
  b.order(early, late);
  CHECK(b.seal().predecessor_count[late] == 1);
}

TEST_CASE("a builder starts anew after sealing", "[unit]") {
  Builder b;
  work(b, "a");
  b.seal();
  CHECK(b.seal().size() == 0);
}

TEST_CASE("ops that wait for each other in a circle are named", "[unit]") {
  Builder b;
  const OpId gate = work(b, "gate"), a = work(b, "attention", 3, 0), c = work(b, "experts", 3, 1),
             end = work(b, "end");
  b.order(gate, a);
  b.order(a, c);
  b.order(c, a);
  b.order(c, end);
  CHECK(refusal(b) ==
        "internal error: ops wait in a circle: L3 experts gpu1 waits for L3 attention gpu0 waits for L3 "
        "experts gpu1");
}

TEST_CASE("an op that waits for itself is a circle", "[unit]") {
  Builder b;
  const OpId a = work(b, "attention");
  b.order(a, a);
  CHECK(refusal(b) == "internal error: ops wait in a circle: attention waits for attention");
}

TEST_CASE("an edge to an op that does not exist is refused", "[unit]") {
  Builder b;
  b.order(work(b, "attention"), kNoOp);
  CHECK(refusal(b) ==
        "internal error: attention is ordered before op 4294967295, but the program has only 1 ops");
}

TEST_CASE("a malformed transfer is refused by name", "[unit]") {
  const auto refused = [](std::initializer_list<int> path, double bytes, Time latency, double cap_GBps = 0) {
    Builder b;
    b.transfer(links(path), Bytes{bytes}, latency, Category::pipeline, {b.name("send")}, from_GBps(cap_GBps));
    return refusal(b);
  };
  CHECK(refused({0, 1}, 1, Time{0}) == "");
  CHECK(refused({0, 1, 0}, 1, Time{0}) == "internal error: send crosses link 0 twice");
  CHECK(refused({0}, -1, Time{0}) == "internal error: send moves a number of bytes that is no size");
  CHECK(refused({0}, std::nan(""), Time{0}) ==
        "internal error: send moves a number of bytes that is no size");
  CHECK(refused({0}, 1, Time{-1}) == "internal error: send has a negative latency");
  CHECK(refused({0}, 1, Time{0}, -1) == "internal error: send has a rate cap that is no rate");
}

TEST_CASE("a malformed compute or join is refused by name", "[unit]") {
  Builder computes, joins;
  computes.compute(ServerId{0}, Time{-1}, Category::attention, {computes.name("work")});
  CHECK(refusal(computes) == "internal error: work takes less than no time");
  joins.join({7});
  CHECK(refusal(joins) == "internal error: op 0 has a name that nobody gave");
}
