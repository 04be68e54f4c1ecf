#include "replay/team.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

/// Replays that are launched before the host waits: enough that it is never late.
constexpr int kMostInFlight = 64;

class Events {
 public:
  explicit Events(int count) : all_(static_cast<std::size_t>(count)) {
    for (cudaEvent_t& e : all_) BENCH_CHECK(cudaEventCreate(&e));
  }
  ~Events() {
    for (const cudaEvent_t e : all_) cudaEventDestroy(e);
  }
  Events(Events&& other) noexcept : all_(std::move(other.all_)) { other.all_.clear(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  cudaEvent_t at(int i) const { return all_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<cudaEvent_t> all_;
};

Collective collective_of(const std::string& op_class) {
  for (const Collective c : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter})
    if (op_class == name_of(c)) return c;
  throw Unsupported(fmt::format("no collective `{}`", op_class));
}

}  // namespace

Team::Team(const ReplayProgram& program) : gpus_(program.first_rank_alone ? 1 : program.ranks) {
  prepare(program);
  if (gpus_.size() == 1) return;
  std::vector<int> all;
  for (int r = 0; r < program.ranks; ++r) all.push_back(r);
  collectives_ = std::make_unique<Collectives>(gpus_, all);
  if (const std::string& why = collectives_->why_not(By::nccl); !why.empty()) throw Unsupported(why);
}

Team::Team(const ReplayProgram& program, const std::vector<int>& devices) : gpus_(devices) {
  prepare(program);
  std::vector<int> all;
  for (int r = 0; r < program.ranks; ++r) all.push_back(r);
  own_ = std::make_unique<OwnAllReduce>(gpus_, all);
}

void Team::prepare(const ReplayProgram& program) {
  for (int r = 0; r < gpus_.size(); ++r) {
    const OnDevice here(gpus_.device(r));
    ranks_.push_back(std::make_unique<Rank>(program, r));
  }
}

void Team::meet(const std::vector<const Rank::Step*>& all) {
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Rank::Step* s : all) {
    if (s->op->op_class != all[0]->op->op_class || s->op->bytes() != all[0]->op->bytes())
      throw BenchError(fmt::format("rank 0 is in `{}`, another one in `{}`", all[0]->op->name, s->op->name));
    in.push_back(s->in);
    out.push_back(s->out);
  }
  const auto bytes = static_cast<std::size_t>(all[0]->op->bytes());
  if (own_ != nullptr) {
    if (collective_of(all[0]->op->op_class) != Collective::all_reduce) throw Unsupported("our own kernels only all-reduce");
    return own_->enqueue(OwnShape::one_shot, in, out, bytes, gpus_.streams());
  }
  collectives_->enqueue(By::nccl, collective_of(all[0]->op->op_class), in, out, bytes, gpus_.streams());
}

void Team::enqueue(const Filter& filter) {
  std::vector<std::size_t> at(ranks_.size(), 0);
  while (true) {
    std::vector<const Rank::Step*> waiting;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const OnDevice here(gpus_.device(static_cast<int>(r)));
      const std::vector<Rank::Step>& steps = ranks_[r]->steps();
      for (; at[r] < steps.size(); ++at[r]) {
        const Rank::Step& s = steps[at[r]];
        if (!filter(*s.op)) continue;
        if (s.is_collective()) {
          waiting.push_back(&s);
          ++at[r];
          break;
        }
        s.run(gpus_.stream(static_cast<int>(r)));
      }
    }
    if (waiting.empty()) return;
    if (waiting.size() != ranks_.size()) throw BenchError("the ranks of the program do not meet in the same collectives");
    meet(waiting);
  }
}

std::vector<double> Team::replay(const GroupGraph& graph, int times) const {
  std::vector<double> out;
  std::vector<Events> events;
  for (int gpu = 0; gpu < gpus_.size(); ++gpu) {
    const OnDevice here(gpus_.device(gpu));
    events.emplace_back(kMostInFlight + 1);
  }
  const auto record = [&](int i) {
    for (int gpu = 0; gpu < gpus_.size(); ++gpu) {
      const OnDevice here(gpus_.device(gpu));
      BENCH_CHECK(cudaEventRecord(events[static_cast<std::size_t>(gpu)].at(i), gpus_.stream(gpu)));
    }
  };
  while (static_cast<int>(out.size()) < times) {
    const int now = std::min(kMostInFlight, times - static_cast<int>(out.size()));
    record(0);
    for (int i = 0; i < now; ++i) {
      graph.launch();
      record(i + 1);
    }
    gpus_.synchronise();
    for (int i = 0; i < now; ++i) {
      float most = 0, ms = 0;
      for (const Events& e : events) {
        BENCH_CHECK(cudaEventElapsedTime(&ms, e.at(i), e.at(i + 1)));
        most = std::max(most, ms);
      }
      out.push_back(1e3 * static_cast<double>(most));
    }
  }
  return out;
}

}  // namespace moe::bench
