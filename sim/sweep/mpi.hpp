// The same sweep over many processes: `mpirun -n 8 moe-sim sweep ...`. Rank 0 hands out points and writes the one result
// file; the others compute. When a rank dies, mpirun ends the job; what was written stays, --resume does the rest.
// Without MPI at build time, or without mpirun, everything here answers "one process". Only mpi.cpp sees MPI.
#pragma once
#include "sweep/runner.hpp"

namespace moe {

/// Joins the job for its lifetime when mpirun started this process.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// Built with MPI.
bool has_mpi();
int mpi_ranks();
int mpi_rank();
/// Rank 0: hands out `todo` in chunks, gives every finished row to the sink, returns when all are done.
void mpi_hand_out(const std::vector<std::uint64_t>& todo, const RowSink& sink);
/// Other ranks: computes what rank 0 sends until it says stop.
void mpi_work(const Study& study, const RunnerOptions& options);

}  // namespace moe
