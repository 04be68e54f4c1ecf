// NVML is loaded by name, with the few declarations that are used: it comes with the driver, its header does not.
#include "harness/device_state.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include <vector>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

using Device = void*;

/// Functions of libnvidia-ml.so.1; null where it is missing.
struct Nvml {
  int (*init)() = nullptr;
  int (*handle)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  bool ready = false;
};

template <class F>
bool load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

const Nvml& nvml() {
  static const Nvml loaded = [] {
    Nvml n;
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return n;
    n.ready = load(library, "nvmlInit_v2", n.init) &&
              load(library, "nvmlDeviceGetHandleByPciBusId_v2", n.handle) &&
              load(library, "nvmlDeviceGetClockInfo", n.clock) &&
              load(library, "nvmlDeviceGetPowerUsage", n.power) &&
              load(library, "nvmlDeviceGetTemperature", n.temperature) &&
              load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", n.reasons) &&
              load(library, "nvmlSystemGetDriverVersion", n.driver) && n.init() == 0;
    return n;
  }();
  return loaded;
}

/// Bits of nvmlClocksThrottleReasons (NVML API reference).
std::string reasons_text(unsigned long long bits) {
  struct Reason {
    unsigned long long bit;
    const char* name;
  };
  constexpr Reason kReasons[] = {{0x2, "application_clocks"}, {0x4, "power_cap"},   {0x8, "hw_slowdown"},
                                 {0x10, "sync_boost"},        {0x20, "thermal"},    {0x40, "hw_thermal"},
                                 {0x80, "power_brake"},       {0x100, "display_clocks"}};
  std::string text;
  for (const Reason& r : kReasons)
    if ((bits & r.bit) != 0) text += (text.empty() ? "" : "+") + std::string(r.name);
  return text.empty() ? "none" : text;
}

std::string pci_address(int device) {
  char address[32] = {};
  BENCH_CHECK(cudaDeviceGetPCIBusId(address, sizeof address, device));
  return address;
}

}  // namespace

DeviceState device_state(int device) {
  DeviceState s;
  const Nvml& n = nvml();
  Device handle = nullptr;
  if (!n.ready || n.handle(pci_address(device).c_str(), &handle) != 0) return s;
  constexpr int kSm = 1, kMemory = 2, kGpuSensor = 0;
  unsigned milliwatts = 0;
  unsigned long long bits = 0;
  s.known = n.clock(handle, kSm, &s.sm_mhz) == 0;
  n.clock(handle, kMemory, &s.memory_mhz);
  if (n.power(handle, &milliwatts) == 0) s.watts = milliwatts / 1000;
  n.temperature(handle, kGpuSensor, &s.celsius);
  s.throttle = n.reasons(handle, &bits) == 0 ? reasons_text(bits) : "unknown";
  return s;
}

std::string describe_device(int device) {
  cudaDeviceProp p{};
  BENCH_CHECK(cudaGetDeviceProperties(&p, device));
  int driver = 0, runtime = 0;
  BENCH_CHECK(cudaDriverGetVersion(&driver));
  BENCH_CHECK(cudaRuntimeGetVersion(&runtime));
  char version[96] = "unknown";
  if (nvml().ready) nvml().driver(version, sizeof version);
  const auto gib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024 * 1024); };
  return fmt::format(
      "gpu: {}\ncompute_capability: {}.{}\nsm: {}\nmemory_gib: {:.1f}\nl2_mib: {:.0f}\nshared_memory_kib: {}\n"
      "pci: \"{}\"\ndriver: \"{}\"\ncuda_driver: {}.{}\ncuda_runtime: {}.{}\ncublaslt: {}\nnvml: {}\n",
      p.name, p.major, p.minor, p.multiProcessorCount, gib(p.totalGlobalMem), 1024 * gib(static_cast<std::size_t>(p.l2CacheSize)),
      p.sharedMemPerBlockOptin / 1024, pci_address(device), version, driver / 1000, driver % 1000 / 10,
      runtime / 1000, runtime % 1000 / 10, cublasLtGetVersion(), nvml().ready ? "read" : "not found: no clocks");
}

}  // namespace moe::bench
