// A batch that is not refilled, by hand.
#include "catch.hpp"
#include "workload/drain.hpp"

using namespace moe;

namespace {

/// A step of 10 ms for every sequence in it, so that time depends on the order in which sequences finish.
DrainInput input(std::vector<double> remaining, double length = 1) {
  DrainInput in;
  in.remaining = std::move(remaining);
  in.step_ms = [](int n) { return 10.0 * n; };
  in.length = [length](int) { return length; };
  in.most = [](int) { return 4.0; };
  return in;
}

}  // namespace

TEST_CASE("sequences finish one after the other, and the batch shrinks", "[analytic]") {
  // 100 steps of two sequences at 20 ms, then 100 of one at 10 ms: 2 s + 1 s; half are done after 2 s.
  const Drain d = drain(input({100, 200}));
  CHECK(d.seconds == Approx(3));
  CHECK(d.half_seconds == Approx(2));
  CHECK(d.mean_batch == Approx((2 * 2 + 1 * 1) / 3.0));
  CHECK(d.low == d.seconds);  // nothing is random
  CHECK(d.high == d.seconds);
}

TEST_CASE("drafts divide the steps by the acceptance length", "[analytic]") {
  CHECK(drain(input({100, 200}, 2)).seconds == Approx(1.5));
  CHECK(drain(input({300, 300, 300}, 3)).half_seconds == Approx(3));  // 100 steps of 30 ms, all at once
}

TEST_CASE("the pace may depend on how many are left", "[analytic]") {
  DrainInput in = input({100, 200});
  in.length = [](int n) { return n == 1 ? 2.0 : 1.0; };  // alone, drafts are worth it: adaptive k
  CHECK(drain(in).seconds == Approx(2 + 0.5));
}

TEST_CASE("a lone sequence is blurred as renewal theory says, and not shifted", "[analytic]") {
  // 10,000 tokens, 2 per step, variance 1: 5000 steps, standard deviation sqrt(10000 x 1 / 2^3) = 35.4 steps; 90 % lie
  // within 1.645 of those. 101 draws know that to some 15 %.
  DrainInput in = input({10000}, 2);
  in.step_ms = [](int) { return 1.0; };
  in.variance = 1;
  const Drain d = drain(in);
  CHECK(d.seconds == Approx(5).margin(0.015));
  CHECK((d.high - d.low) / 2 == Approx(1.645 * 0.0354).epsilon(0.3));
  in.seed = 2;
  CHECK(drain(in).seconds != d.seconds);
}

TEST_CASE("sequences that differ drain later than equal ones", "[analytic]") {
  DrainInput in = input(std::vector<double>(32, 500), 2);
  in.step_ms = [](int) { return 10.0; };
  const double equal = drain(in).seconds;
  in.spread = 0.4;
  const Drain d = drain(in);
  CHECK(d.seconds > 1.2 * equal);  // the slowest of 32: 2 - 2.0 x 0.4 tokens per step
  CHECK(d.low < d.seconds);
  CHECK(d.seconds < d.high);
  CHECK(d.mean_batch < 32);
}
