#include "comm/collectives.hpp"

#include <fmt/core.h>

#include "harness/check.hpp"

#ifdef MOE_BENCH_NCCL
#include <nccl.h>
#endif

namespace moe::bench {

const char* name_of(Collective op) {
  constexpr const char* kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  return kNames[static_cast<int>(op)];
}

#ifdef MOE_BENCH_NCCL

namespace {

void check_nccl(ncclResult_t status, const char* call, const char* file, int line) {
  if (status != ncclSuccess)
    fail(call, fmt::format("NCCL: {}; {}", ncclGetErrorString(status), ncclGetLastError(nullptr)), file, line);
}
#define NCCL_CHECK(call) check_nccl((call), #call, __FILE__, __LINE__)

/// ncclGroupStart and ncclGroupEnd around what every rank does.
template <class Body>
void grouped(const Body& body) {
  NCCL_CHECK(ncclGroupStart());
  body();
  NCCL_CHECK(ncclGroupEnd());
}

}  // namespace

std::string nccl_version() {
  int v = 0;
  if (ncclGetVersion(&v) != ncclSuccess) return "unknown";
  return fmt::format("{}.{}.{}", v / 10000, v % 10000 / 100, v % 100);
}

struct Collectives::Nccl {
  std::vector<ncclComm_t> comms;

  explicit Nccl(const std::vector<int>& devices) : comms(devices.size()) {
    NCCL_CHECK(ncclCommInitAll(comms.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~Nccl() {
    for (const ncclComm_t comm : comms) ncclCommDestroy(comm);
  }

  void to_every_peer(std::size_t rank, const std::vector<std::size_t>& send, const std::vector<std::size_t>& receive,
                     const void* in, void* out, cudaStream_t stream) const {
    const char* from = static_cast<const char*>(in);
    char* to = static_cast<char*>(out);
    for (std::size_t peer = 0; peer < comms.size(); ++peer) {
      const int p = static_cast<int>(peer);
      if (send[peer] > 0) NCCL_CHECK(ncclSend(from, send[peer], ncclInt8, p, comms[rank], stream));
      if (receive[peer] > 0) NCCL_CHECK(ncclRecv(to, receive[peer], ncclInt8, p, comms[rank], stream));
      from += send[peer];
      to += receive[peer];
    }
  }

  void one(Collective op, std::size_t r, const void* in, void* out, std::size_t bytes, cudaStream_t stream) const {
    const std::size_t n = comms.size(), values = bytes / 2;
    switch (op) {
      case Collective::all_reduce:
        return NCCL_CHECK(ncclAllReduce(in, out, values, ncclBfloat16, ncclSum, comms[r], stream));
      case Collective::all_gather: return NCCL_CHECK(ncclAllGather(in, out, values / n, ncclBfloat16, comms[r], stream));
      case Collective::reduce_scatter:
        return NCCL_CHECK(ncclReduceScatter(in, out, values / n, ncclBfloat16, ncclSum, comms[r], stream));
      case Collective::all_to_all: {
        const std::vector<std::size_t> share(n, bytes / n);
        return to_every_peer(r, share, share, in, out, stream);
      }
    }
  }
};

#else

std::string nccl_version() { return {}; }
struct Collectives::Nccl {};

#endif

Collectives::Collectives(const GpuGroup& gpus, const std::vector<int>& ranks) : size_(static_cast<int>(ranks.size())) {
#ifdef MOE_BENCH_NCCL
  std::vector<int> devices;
  for (const int gpu : ranks) devices.push_back(gpus.device(gpu));
  nccl_ = std::make_unique<Nccl>(devices);
#else
  no_nccl_ = "built without NCCL: its header or library was not found (-DNCCL_ROOT=...)";
#endif
  try {
    own_ = std::make_unique<OwnAllReduce>(gpus, ranks);
  } catch (const Unsupported& e) {
    no_own_ = e.what();
  }
}

Collectives::~Collectives() = default;

int Collectives::size() const { return size_; }

const std::string& Collectives::why_not(By by) const { return by == By::nccl ? no_nccl_ : no_own_; }

void Collectives::enqueue(By by, Collective op, const std::vector<const void*>& in, const std::vector<void*>& out,
                          std::size_t bytes, const std::vector<cudaStream_t>& streams) {
  if (!why_not(by).empty()) throw Unsupported(why_not(by));
  if (bytes % (16 * static_cast<std::size_t>(size_)) != 0)
    throw BenchError(fmt::format("{} of {} bytes: not a multiple of 16 x {} ranks", name_of(op), bytes, size_));
  if (by != By::nccl) {
    if (op != Collective::all_reduce) throw Unsupported("our own kernels only all-reduce");
    return own_->enqueue(by == By::one_shot ? OwnShape::one_shot : OwnShape::two_shot, in, out, bytes, streams);
  }
#ifdef MOE_BENCH_NCCL
  grouped([&] {
    for (std::size_t r = 0; r < in.size(); ++r) nccl_->one(op, r, in[r], out[r], bytes, streams[r]);
  });
#endif
}

void Collectives::exchange([[maybe_unused]] const std::vector<std::vector<std::size_t>>& bytes,
                           [[maybe_unused]] const std::vector<const void*>& in,
                           [[maybe_unused]] const std::vector<void*>& out,
                           [[maybe_unused]] const std::vector<cudaStream_t>& streams) {
  if (!no_nccl_.empty()) throw Unsupported(no_nccl_);
#ifdef MOE_BENCH_NCCL
  grouped([&] {
    for (std::size_t r = 0; r < in.size(); ++r) {
      std::vector<std::size_t> receive;
      for (const auto& row : bytes) receive.push_back(row[r]);
      nccl_->to_every_peer(r, bytes[r], receive, in[r], out[r], streams[r]);
    }
  });
#endif
}

}  // namespace moe::bench
