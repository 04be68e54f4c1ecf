// What state is the card in? Clocks, power, temperature and why it is throttled, through NVML, which is loaded at run
// time: without it the fields stay empty and the report says so.
#pragma once
#include <string>

namespace moe::bench {

struct DeviceState {
  bool known = false;
  unsigned sm_mhz = 0, memory_mhz = 0, watts = 0, celsius = 0;
  std::string throttle;  ///< "none", or reasons joined by `+`: power_cap, thermal, hw_slowdown, sync_boost
};
/// Of a CUDA device (found by its PCI address).
DeviceState device_state(int device);

/// Card, driver and library versions for the report, one `name: value` per line.
std::string describe_device(int device);

}  // namespace moe::bench
