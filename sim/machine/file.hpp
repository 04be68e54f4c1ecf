// What does a topologies/*.yaml file say, entry by entry, before anything is checked across entries?
// A value with its places, so that machine/load.cpp can point at both sides of a contradiction. Example: the entry
// {from: [gpu0, gpu1], to: sw0, ...} is one LinkEntry with two names in `from`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "machine/machine.hpp"

namespace moe {

/// A name and where it stands.
struct PlacedName {
  std::string text;
  Place place;
  std::string path;  ///< dotted path of the field
};

struct DeviceEntry {
  std::vector<PlacedName> names;
  DeviceKind kind = DeviceKind::gpu;
  int socket = -1, node = 0;
};

struct LinkEntry {
  std::vector<PlacedName> from, to;
  LinkKind kind = LinkKind::port;
  double bandwidth_Bps = 0;  ///< 0: not given
  double latency_s = 0;
  bool oneway = false;
  PlacedName limit;          ///< empty: none
};

struct LimitEntry {
  double bandwidth_Bps = 0;
  Place place;
};

struct MachineFile {
  Machine facts;  ///< everything that needs no check across entries
  std::vector<DeviceEntry> devices;
  std::vector<LinkEntry> links;
  std::map<std::string, LimitEntry> limits;
  bool says_nccl = false, says_communicators = false;
  Place devices_place, nccl_place, speed_place;
};

/// Declares and reads every key.
void bind_machine(Fields& f, MachineFile& file);

}  // namespace moe
