#include "sweep/mpi.hpp"

#ifdef MOE_SIM_MPI
#include <mpi.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace moe {

#ifdef MOE_SIM_MPI
namespace {

constexpr int kTag = 1;
bool joined = false;

/// Rows travel as CBOR: exact numbers, no layout to keep in step.
std::vector<std::uint8_t> packed(const std::vector<Row>& rows) {
  nlohmann::json out = nlohmann::json::array();
  for (const Row& r : rows)
    out.push_back({r.index, static_cast<int>(r.status), r.rule, r.reason, r.axes, r.metrics});
  return nlohmann::json::to_cbor(out);
}

std::vector<Row> unpacked(const std::vector<std::uint8_t>& bytes) {
  std::vector<Row> rows;
  for (const auto& r : nlohmann::json::from_cbor(bytes))
    rows.push_back({r[0].get<std::uint64_t>(), static_cast<Status>(r[1].get<int>()), r[2].get<std::string>(),
                    r[3].get<std::string>(), r[4].get<std::vector<std::string>>(), r[5].get<std::vector<double>>()});
  return rows;
}

}  // namespace

bool has_mpi() { return true; }

MpiSession::MpiSession() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMI_SIZE") == nullptr) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  joined = true;
}

MpiSession::~MpiSession() {
  if (!joined) return;
  // An exception on one rank would leave the others waiting: end the job.
  if (std::uncaught_exceptions() > 0) {
    if (mpi_ranks() > 1) return;  // the message is printed first, then mpirun sees a rank leave without finalising
  }
  MPI_Finalize();
  joined = false;
}

int mpi_ranks() {
  int n = 1;
  if (joined) MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

int mpi_rank() {
  int n = 0;
  if (joined) MPI_Comm_rank(MPI_COMM_WORLD, &n);
  return n;
}

void mpi_hand_out(const std::vector<std::uint64_t>& todo, const RowSink& sink) {
  std::size_t next = 0;
  // Small chunks at the end, so that nobody waits long for the last one.
  for (int working = mpi_ranks() - 1; working > 0;) {
    MPI_Status from;
    MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &from);
    int size = 0;
    MPI_Get_count(&from, MPI_BYTE, &size);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    MPI_Recv(bytes.data(), size, MPI_BYTE, from.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::size_t left = todo.size() - next;
    const std::size_t chunk = std::min(left, std::clamp<std::size_t>(left / static_cast<std::size_t>(4 * mpi_ranks()), 1, 64));
    MPI_Send(todo.data() + next, static_cast<int>(chunk), MPI_UINT64_T, from.MPI_SOURCE, kTag, MPI_COMM_WORLD);
    next += chunk;
    if (chunk == 0) --working;
    if (size > 0) sink(unpacked(bytes));
  }
}

void mpi_work(const Study& study, const RunnerOptions& options) {
  CaseCache cache;
  std::vector<std::uint8_t> answer;
  for (;;) {
    MPI_Send(answer.data(), static_cast<int>(answer.size()), MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    std::vector<std::uint64_t> todo(64);
    MPI_Status status;
    MPI_Recv(todo.data(), 64, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    if (count == 0) return;
    todo.resize(static_cast<std::size_t>(count));
    std::vector<Row> rows;
    run_points(study, todo, cache, [&](std::vector<Row>&& some) { std::move(some.begin(), some.end(), std::back_inserter(rows)); }, options);
    answer = packed(rows);
  }
}

#else

bool has_mpi() { return false; }
MpiSession::MpiSession() = default;
MpiSession::~MpiSession() = default;
int mpi_ranks() { return 1; }
int mpi_rank() { return 0; }
void mpi_hand_out(const std::vector<std::uint64_t>&, const RowSink&) {}
void mpi_work(const Study&, const RunnerOptions&) {}

#endif

}  // namespace moe
