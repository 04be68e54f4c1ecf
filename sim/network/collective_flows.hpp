// What does a collective do, transfer by transfer? Ops of a program whose flows share links with everything else that
// moves. Alone on its links it takes the time of the closed form (cost/collective.hpp, cost/algorithms.hpp).
//
//   Builder b;
//   CollectiveWriter w(b, machine, routes, profile.comm);
//   std::vector<OpId> done = w.write({CollectiveOp::all_reduce, {0, 1, 2, 3}, 4 << 20}, {});   // one op per rank
//   Program p = b.seal();
//   PcieRule rule(machine, w.reads());
//   run(p, fabric(machine), Sharing::max_min, &rule);
//
// A ring step of a rank starts when its previous send has left and its neighbour's previous one has arrived. A send is a
// flow (holds links), then a delay (holds nothing): the next send does not wait for the first one's propagation.
// On a link that is full a ring weighs as many parts as it has channels; every other message is one part.
#pragma once
#include <span>
#include <vector>

#include "cost/algorithms.hpp"
#include "program/builder.hpp"

namespace moe {

struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::vector<int> gpus;             ///< machine GPU numbers, in ring order
  double bytes = 0;                  ///< nccl-tests meaning
  Algorithm algorithm = Algorithm::automatic;
  CollectivePolicy policy;
  CopyEngine engine;
  /// All-to-all only: pair_bytes[i][j] from the i-th to the j-th GPU; empty: bytes / ranks to each.
  std::vector<std::vector<double>> pair_bytes;
  bool pulls = false;                ///< all-to-all: receivers read instead of senders writing
};

class CollectiveWriter {
 public:
  /// All references must outlive the writer.
  CollectiveWriter(Builder& builder, const Machine& machine, const Routes& routes, const CommCost& cost)
      : builder_(builder), machine_(machine), routes_(routes), cost_(cost) {}

  /// Appends the collective; it starts when all of `arrived` have ended. Returns the last op of each rank.
  std::vector<OpId> write(const CollectiveRequest& request, std::span<const OpId> arrived, int layer = -1);

  /// By op of the builder, for PcieRule: which transfers are reads.
  const std::vector<bool>& reads() const { return reads_; }

 private:
  /// The flow of one message and the op after which its receiver may go on.
  struct Sent {
    OpId flow, arrived;
  };
  using Matrix = std::vector<std::vector<double>>;
  OpId delay(double us, int gpu);
  Sent send(int from, int to, Transport transport, double bytes, double alone_us, double delay_us, int weight = 1,
            bool read = false);
  OpId gathered(std::span<const OpId> ops);
  std::vector<OpId> ring(const Communicator& comm, const RingPlan& plan, OpId start);
  std::vector<OpId> nccl_ring(const Communicator& comm, CollectiveOp op, double bytes,
                              const CollectivePolicy& policy, OpId start);
  std::vector<OpId> all_to_all(const CollectiveRequest& r, OpId start);
  std::vector<OpId> exchange(const Communicator& comm, const Matrix& bytes, const Matrix& alone_us, double before_us,
                             bool reads, OpId start);
  std::vector<OpId> shots(const CollectiveRequest& r, bool two, OpId start);
  std::vector<OpId> tree(const CollectiveRequest& r, OpId start);
  std::vector<OpId> chain(const Communicator& comm, const TreePlan& plan, bool backwards, OpId start);
  std::vector<OpId> hierarchical(const CollectiveRequest& r, OpId start);
  std::vector<OpId> gather(const CollectiveRequest& r, OpId start);

  Builder& builder_;
  const Machine& machine_;
  const Routes& routes_;
  const CommCost& cost_;
  std::vector<bool> reads_;
  Category category_ = Category::all_reduce;
  std::uint16_t name_ = 0;
  int layer_ = -1;
};

}  // namespace moe
