// A replay of two ranks on one GPU: do they meet in their collectives, in a graph per rank, and see the same sums?
#include <cmath>
#include <cstring>

#include "harness/check.hpp"
#include "replay/team.hpp"
#include "verify/checks.hpp"

namespace moe::bench {
namespace {

constexpr int kRows = 4, kRanks = 2;

/// Two multiplies, an all-reduce after each, on two ranks: what a tensor-parallel layer is made of.
ReplayProgram two_ranks() {
  ReplayProgram p;
  p.ranks = kRanks;
  for (int rank = 0; rank < kRanks; ++rank)
    for (const int n : {256, 512}) {
      ReplayOp dense;
      dense.rank = rank;
      dense.op_class = "dense";
      dense.path = "suite-1/cublaslt/bfloat16";
      dense.format = "bf16";
      dense.stream = "main";
      dense.name = dense.weights = n == 256 ? "down" : "up";
      dense.sizes = {{"m", kRows}, {"n", n}, {"k", 768 - n}};
      p.ops.push_back(dense);
      ReplayOp sum;
      sum.rank = rank;
      sum.op_class = sum.name = "all_reduce";
      sum.stream = "main";
      sum.group = {0, 1};
      sum.sizes = {{"bytes", 2.0 * kRows * n}};
      p.ops.push_back(sum);
    }
  return p;
}

std::vector<char> last_sum(const Team& team, int rank) {
  std::vector<char> bytes(2 * kRows * 512);
  BENCH_CHECK(cudaMemcpy(bytes.data(), team.rank(rank).steps().back().out, bytes.size(), cudaMemcpyDeviceToHost));
  return bytes;
}

/// 0 when both ranks end with the same bits, and replays take some time.
double meets() {
  int device = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  const ReplayProgram program = two_ranks();
  Team team(program, {device, device});
  const auto everything = [](const ReplayOp&) { return true; };
  team.enqueue(everything);
  team.gpus().synchronise();
  const GroupGraph graph(team.gpus(), [&] { team.enqueue(everything); });
  constexpr double kMostUs = 5000;
  for (const double us : team.replay(graph, 20))
    if (us <= 0 || us > kMostUs) return NAN;
  return last_sum(team, 0) == last_sum(team, 1) ? 0 : NAN;
}

/// 0 when ranks that do not meet are an error, not a hang.
double refuses() {
  int device = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  ReplayProgram program = two_ranks();
  program.ops.pop_back();  // rank 1 has one collective less
  Team team(program, {device, device});
  try {
    team.enqueue([](const ReplayOp&) { return true; });
  } catch (const BenchError&) {
    return 0;
  }
  return NAN;
}

}  // namespace

std::vector<Check> replay_checks() {
  return {{"replay of two ranks on one GPU", 0, [](cudaStream_t) { return meets(); }},
          {"replay of ranks that do not meet", 0, [](cudaStream_t) { return refuses(); }}};
}

}  // namespace moe::bench
