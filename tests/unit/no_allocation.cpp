// The engine's loop allocates nothing. Operator new of the whole test program is replaced by one that counts
// for the calling thread and otherwise does what the original does. AddressSanitizer brings its own operator
// new and checks that new and delete match, so under it there is nothing to count here.
#ifndef __SANITIZE_ADDRESS__
#include <cstdlib>
#include <new>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace moe;

TEST_CASE("the counting operator new counts", "[unit]") {
  const std::size_t before = allocations;
  const std::vector<int> one(100);
  CHECK(allocations == before + 1);
}

TEST_CASE("the engine allocates nothing once it is built", "[unit]") {
  const int seed = GENERATE(range(1, 51));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  const Resources resources = random_machine(random);
  const Program program = random_program(random);
  const Sharing sharing = seed % 2 == 0 ? Sharing::max_min : Sharing::alone;
  Engine engine(program, resources, sharing);
  const std::size_t before = allocations;
  while (engine.has_work()) engine.advance();
  const std::size_t in_loop = allocations - before;
  CHECK(in_loop == 0);
}
#endif
