// The options of the network verbs. Included by main.cpp only: it is the second file that sees CLI11.
#pragma once
#include <CLI/CLI.hpp>

#include "cli/network.hpp"

namespace moe {

/// Declares the verbs and runs the one that was given.
class NetworkVerbs {
 public:
  void declare(CLI::App& app);
  /// True when one of them was parsed; then `code` is its exit code.
  bool run(const Streams& streams, int& code) const;

 private:
  void declare_collective(CLI::App& app);
  void declare_imports(CLI::App& app);

  CLI::App *flows_ = nullptr, *show_ = nullptr, *collective_ = nullptr, *import_machine_ = nullptr,
           *import_collectives_ = nullptr, *fit_comm_ = nullptr;
  CollectiveArguments collective_arguments_;
  ImportMachineArguments import_arguments_;
  ImportCollectivesArguments rows_arguments_;
  FitCommArguments fit_arguments_;
  FlowsArguments flows_arguments_;
  std::string machine_;
  bool json_ = false;
};

inline void NetworkVerbs::declare(CLI::App& app) {
  flows_ = app.add_subcommand("flows", "rates of simultaneous transfers between GPUs, and the links that hold them");
  flows_->add_option("machine", flows_arguments_.machine, "a machine of topologies/, or a path")->required();
  flows_->add_option("flows", flows_arguments_.flows, "\"0>4,1>5\"; \"0-3>4-7\": each to each")->required();
  flows_->add_flag("--read", flows_arguments_.reads, "the receiver reads instead of the sender writing");
  flows_->add_option("--megabytes", flows_arguments_.megabytes, "size of each flow")->check(CLI::PositiveNumber);
  flows_->add_flag("--csv", flows_arguments_.csv, "one line per flow");
  flows_->add_flag("--json", flows_arguments_.json, "for programs");
  flows_->add_option_function<std::string>(
      "--links", [this](const std::string& v) { flows_arguments_.all_links = v == "all"; }, "`all`: every link");
  show_ = app.add_subcommand("show", "a machine: its tree, and what each GPU can send to each other one");
  show_->add_option("machine", machine_, "a machine of topologies/, or a path")->required();
  show_->add_flag("--json", json_, "for programs");
  declare_collective(app);
  declare_imports(app);
}

inline void NetworkVerbs::declare_collective(CLI::App& app) {
  CollectiveArguments& a = collective_arguments_;
  collective_ = app.add_subcommand("collective", "time of a collective by size, with what NCCL or the stack takes and why");
  collective_->add_option("machine", a.machine, "a machine of topologies/, or a path")->required();
  collective_->add_option("--op", a.op, "all_reduce | all_gather | reduce_scatter | all_to_all | send");
  collective_->add_option("--ranks", a.ranks, "GPUs in ring order: 0-7 or 0,2,4,6; default: all");
  collective_->add_option("--bytes", a.bytes, "1KB..4MB doubles, a,b,c lists; KB = 1024 B");
  collective_->add_option("--impl", a.implementation,
                          "automatic | nccl | tree | oneshot | twoshot | hierarchical | gather | copy_ring");
  collective_->add_option("--profile", a.profile, "communication constants; default: those of the machine's GPU");
  collective_->add_option("--stack", a.stack, "engine build: cut-offs and constants of its own kernels");
  collective_->add_option("--protocol", a.protocol, "hold NCCL to LL, LL128 or Simple");
  collective_->add_option("--beside", a.beside, "another collective at the same time, OP[/IMPL]:RANKS:BYTES")
      ->allow_extra_args(false);
  collective_->add_flag("--flows", a.flows, "simulate the transfers one by one too");
  collective_->add_flag("--csv", a.csv, "one line per size");
  collective_->add_flag("--json", a.json, "for programs");
}

inline void NetworkVerbs::declare_imports(CLI::App& app) {
  import_machine_ = app.add_subcommand("import-machine", "NCCL's topology XML or `nvidia-smi topo -m` to a machine file");
  import_machine_->add_option("file", import_arguments_.file, "the dump")->required();
  import_machine_->add_option("--lspci", import_arguments_.lspci, "output of `lspci -tv`: which switches there are");
  import_machine_->add_option("--measured", import_arguments_.measured,
                              "folder of moe-calibrate: bandwidths from p2p.csv, NCCL's channels from communicators.csv");
  import_machine_->add_option("--transport", import_arguments_.transport,
                              "with --measured: default, or p2p_off for the same machine with NCCL_P2P_DISABLE=1");
  import_machine_->add_option("--gpu", import_arguments_.gpu, "name of a file in calibration/gpus");
  import_machine_->add_option("--out", import_arguments_.out, "file to write; default: standard output");
  import_collectives_ = app.add_subcommand("import-collectives", "nccl-tests output to collective.csv");
  import_collectives_->add_option("file", rows_arguments_.files, "outputs of *_perf")->required();
  import_collectives_->add_option("--gpus", rows_arguments_.gpus, "ranks, where the output does not say");
  import_collectives_->add_option("--path", rows_arguments_.path, "name of this software and transport in the table");
  import_collectives_->add_option("--out", rows_arguments_.out, "file to write; default: standard output");
  fit_comm_ = app.add_subcommand("fit-comm", "communication constants from collective.csv");
  fit_comm_->add_option("dir", fit_arguments_.dir, "folder with collective.csv")->required();
  fit_comm_->add_option("--setup", fit_arguments_.setups, "PATH=MACHINE[/PROTOCOL] for each path of the table")
      ->required()->allow_extra_args(false);
  fit_comm_->add_option("--out", fit_arguments_.out, "file for the `comm:` section; default: standard output");
}

inline bool NetworkVerbs::run(const Streams& s, int& code) const {
  if (flows_->parsed()) code = flows_command(flows_arguments_, s);
  else if (show_->parsed()) code = show_command(machine_, json_, s);
  else if (collective_->parsed()) code = collective_command(collective_arguments_, s);
  else if (import_machine_->parsed()) code = import_machine_command(import_arguments_, s);
  else if (import_collectives_->parsed()) code = import_collectives_command(rows_arguments_, s);
  else if (fit_comm_->parsed()) code = fit_comm_command(fit_arguments_, s);
  else return false;
  return true;
}

}  // namespace moe
