// The verbs about machines and what moves between their GPUs: collective, flows, show, import-machine,
// import-collectives, fit-comm. As in cli/commands.hpp, each takes plain values and returns an exit code.
#pragma once
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace moe {

struct Machine;
struct Sketch;
class Diagnostics;

struct FlowsArguments {
  std::string machine, flows;
  bool reads = false, csv = false, json = false, all_links = false;
  double megabytes = 256;
};
int flows_command(const FlowsArguments& arguments, const Streams& streams);
struct CollectiveArguments {
  std::string machine, op = "all_reduce", ranks, bytes = "1KB..4MB", implementation = "automatic", profile, stack, protocol;
  std::vector<std::string> beside;  ///< OP[/IMPL]:RANKS:BYTES that run at the same time
  bool csv = false, json = false, flows = false;
};
int collective_command(const CollectiveArguments& arguments, const Streams& streams);

struct ImportMachineArguments {
  std::string file, lspci, measured, transport = "default", out, gpu = "rtx-pro-6000";
};
int import_machine_command(const ImportMachineArguments& arguments, const Streams& streams);
/// Puts the bandwidths of FOLDER/p2p.csv and the channels of FOLDER/communicators.csv (if there) into the sketch.
void add_measured(const std::string& folder, const std::string& transport, Sketch& sketch, Diagnostics& out);

struct ImportCollectivesArguments {
  std::vector<std::string> files;
  std::string path = "nccl", out;
  int gpus = 0;  ///< 0: as the file says
};
int import_collectives_command(const ImportCollectivesArguments& arguments, const Streams& streams);


struct FitCommArguments {
  std::string dir, out;
  std::vector<std::string> setups;  ///< PATH=MACHINE[/PROTOCOL][@LEAST_GPUS]: how rows of a path were measured
};
int fit_comm_command(const FitCommArguments& arguments, const Streams& streams);

int show_command(const std::string& machine, bool json, const Streams& streams);

/// Reads a machine by name or path; throws InputError with everything that is wrong with it.
Machine machine_named(const std::string& name);
/// Prints the machine's unvalidated notes as warnings.
void warn_unvalidated(const Machine& machine, const Streams& streams);

}  // namespace moe
