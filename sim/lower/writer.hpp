// How do items become ops of ranks? For every rank and micro-batch the writer keeps the op that the next kernel has to
// wait for.
//
// Streams of a rank: main, aux (shared experts beside routed ones), comm (collectives, where two half batches overlap)
// and host (launches and gaps). A collective starts on all its ranks when the last one arrives.
// Folded: ranks of a stage that all do the same are played by one of them.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lower/recipe.hpp"
#include "program/builder.hpp"

namespace moe {

/// A rank that is played.
struct Played {
  int stage = 0, group = 0, lane = 0;
  int gpu = 0;       ///< number on the machine
  double speed = 1;  ///< 1: nominal
};

class Writer {
 public:
  Writer(const Case& c, const GpuSpec& gpu, const Layout& layout, const LowerOptions& options);

  const std::vector<Played>& played() const { return played_; }
  bool folded() const { return folded_; }
  /// Positions in played() of one stage.
  const std::vector<int>& stage_ranks(int stage) const { return by_stage_[static_cast<std::size_t>(stage)]; }

  /// One kernel on one rank. `time_us` replaces the item's cost where it is given.
  void kernel(int rank, int micro, const Item& item, int layer, double time_us = -1);
  /// A collective among ranks of one stage: `members` are the played ones, `groups[which]` all of them in ring order.
  /// Where other traffic can cross its links meanwhile (the other groups do the same at the same time), it becomes flows.
  /// `groups` must outlive the writer: it is remembered by its address.
  void collective(const std::vector<int>& members, const std::vector<std::vector<int>>& groups, std::size_t which, int micro,
                  const Item& item, int layer);
  /// Bytes that travel between played ranks, all at once: bytes[i][j] from members[i] to members[j]. Every rank spends
  /// the launch, then its flows share the links, each at most as fast as grouped send/receive moves a message of its size;
  /// a rank goes on when all that it sends and receives has arrived.
  void exchange(const std::vector<int>& members, int micro, const std::vector<std::vector<double>>& bytes,
                const Item& item, int layer);
  /// Activations of a micro-batch move to the next stage: `bytes` from every lane to its counterpart.
  void hand_off(int from_stage, int micro, double bytes);
  /// The first op of `micro` on stage 0 waits for its last op on the last stage: the next token needs the last one.
  void next_round(int micro);
  /// Micro-batches of a pipeline take turns on a rank: one graph replay after the other, not kernel by kernel.
  void begin_turn(int stage, int micro);
  void end_turn(int stage, int micro);
  void join_streams(int rank, int micro);
  /// Host work of `us` that ends before the next kernel of the rank may start.
  void host_launch(int rank, int micro, const char* name, double us, int layer);
  /// Time of the host after the last kernel, before the next step.
  void host_gap(int rank, int micro, double us);
  /// Time that the bytes of the second stream's kernels take, since the last call. Both streams read the same DRAM, so
  /// the main stream's kernels that run beside them last longer by it.
  double take_aux_memory_us(int rank, int micro);
  /// The next host launch waits for all that the rank was given so far: the host needs its result.
  void host_sync(int rank, int micro) { chain(rank, micro).host = chain(rank, micro).main; }
  /// All ops from here on count as `category`; nullopt: as what they are.
  void book_as(std::optional<Category> category) { booked_ = category; }
  /// Everything written from here on belongs to the round that is measured.
  void mark_last_round();
  bool records() const { return options_.record; }
  /// What the routed experts were called with that were written last on a rank.
  void record_routing(int rank, const std::vector<int>& rows, double tokens_here);
  Lowered finish();

 private:
  struct Chain {
    OpId main = kNoOp, aux = kNoOp, host = kNoOp;
    bool host_pending = false;   ///< the next kernel waits for `host`
    double aux_memory_us = 0;
    double prefetched_bytes = 0; ///< weights that an idle memory fetched into L2 during the last collective
  };
  enum Stream { kMain, kAux, kComm, kHost, kStreams };
  void play_ranks();
  bool identical_ranks() const;
  OpId append(int rank, int micro, Stream stream, const Item& item, double us, int layer);
  void record(OpId op, int rank, Stream stream, const Item& item, int layer);
  double prefetch_gain_us(Chain& chain, const Item& item);
  double graph_gap_us(const Item& item) const;
  const Communicator& communicator_of(const std::vector<int>& gpus);
  const CollectiveCost& cost_of(const Communicator& comm, const Item& item);
  /// The stack's policy with the one-shot constants for this many ranks (the nearest measured count from below).
  CollectivePolicy policy_for(int ranks) const;
  // Collectives whose links others can cross (writer_flows.cpp).
  /// Can other traffic cross links of these groups' collectives at the same time? Other groups, other stages and what they
  /// hand on, tokens that travel while the other half batch communicates.
  bool meets_others(const std::vector<std::vector<int>>& groups, int stage, const CollectiveCost& cost);
  std::set<LinkId> limited(const std::vector<LinkId>& path) const;
  std::set<LinkId> links_of(const std::vector<int>& gpus, const CollectiveCost& cost);
  std::set<LinkId> links_of_other_stages(int stage, const CollectiveCost& cost);
  /// The part of a collective's time alone in which it sends.
  double moving_us(const Communicator& comm, const Item& item, const CollectiveCost& cost) const;
  void collective_as_flows(const std::vector<int>& members, const std::vector<std::vector<int>>& groups, std::size_t which,
                           int micro, const Item& item, int layer, const CollectiveCost& cost);
  void add_flows(const std::vector<int>& members, const std::vector<int>& gpus, const std::vector<OpId>& launched,
                 const Item& item, const CollectiveCost& cost, double us, int layer, OpId done);
  int label_of(const Item& item);
  int use_of(const std::string& path);
  /// Paths are counted for one rank of every stage, and in a pipeline for one micro-batch: what one token passes.
  bool is_counted(int rank, int micro) const {
    const Played& p = played_[static_cast<std::size_t>(rank)];
    return p.group == 0 && p.lane == 0 && (micro == 0 || layout_.pp == 1);
  }
  void count(int use, double us, double spread, bool outside, bool is_part);
  Chain& chain(int rank, int micro) { return chains_[static_cast<std::size_t>(rank * micro_batches_ + micro)]; }
  ServerId server(int rank, Stream stream) const { return static_cast<ServerId>(rank * kStreams + stream); }
  Category booked(Category c) const { return booked_.value_or(c); }
  double faster(Category c) const { return options_.tweaks.faster[static_cast<std::size_t>(booked(c))]; }

  const Case& case_;
  const GpuSpec& gpu_;
  const Layout& layout_;
  LowerOptions options_;
  int micro_batches_;
  CommCost comm_cost_;
  Builder builder_;
  bool folded_ = false;
  std::optional<Category> booked_;
  std::vector<Played> played_;
  std::vector<std::vector<int>> by_stage_;
  std::vector<Chain> chains_;
  std::vector<OpId> turn_;           ///< by rank: last op of the micro-batch that had its turn
  std::vector<OpFacts> facts_;
  std::vector<Call> calls_;
  std::vector<std::size_t> last_call_;  ///< by rank
  std::vector<PathUse> uses_;
  std::map<std::string, int> use_numbers_;
  std::map<std::vector<int>, Communicator> communicators_;
  std::map<std::tuple<const Communicator*, int, double>, CollectiveCost> collectives_;
  std::map<std::pair<const std::vector<std::vector<int>>*, bool>, bool> meets_;
  std::vector<double> link_bytes_;
  mutable std::set<std::string> notes_;  ///< what the report has to say about the costs
  std::size_t last_round_ = 0;
  std::vector<OpId> before_last_round_;
};

}  // namespace moe
