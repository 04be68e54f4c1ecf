#include "harness/session.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

constexpr std::chrono::milliseconds kNoteEvery{500};

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

Session::Session(RunOptions options) : options_(std::move(options)) {
  namespace fs = std::filesystem;
  BENCH_CHECK(cudaSetDevice(options_.device));
  BENCH_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  fs::create_directories(options_.out);
  if (!options_.resume)
    for (const char* name : {"details.csv", "skipped.csv", "conditions.csv"}) fs::remove(fs::path(options_.out) / name);
  const fs::path path = fs::path(options_.out) / "conditions.csv";
  const bool fresh = !fs::exists(path);
  conditions_.open(path, std::ios::app);
  if (fresh) conditions_ << "section,second,sm_mhz,memory_mhz,watts,celsius,throttle\n";
  if (!conditions_) throw BenchError(fmt::format("cannot write in `{}`", options_.out));
}

Session::~Session() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Results Session::results(const std::string& name, const Key& columns) const {
  return Results(options_.out, name, columns, !options_.resume);
}

void Session::begin(const std::string& section, std::size_t points) {
  section_ = section;
  points_ = points;
  done_ = 0;
  start_ = noted_ = std::chrono::steady_clock::now();
}

void Session::tick() {
  ++done_;
  if (std::chrono::steady_clock::now() - noted_ < kNoteEvery) return;
  noted_ = std::chrono::steady_clock::now();
  const DeviceState s = device_state(options_.device);
  if (s.known)
    conditions_ << fmt::format("{},{:.1f},{},{},{},{},{}\n", section_, seconds_since(start_), s.sm_mhz, s.memory_mhz,
                               s.watts, s.celsius, s.throttle);
  fmt::print(stderr, "\r{:<10} {:>5} of {:>5} points  {:6.1f} s  ", section_, done_, points_, seconds_since(start_));
  std::fflush(stderr);
}

void Session::end() {
  conditions_.flush();
  fmt::print(stderr, "\r{:<10} {:>5} of {:>5} points  {:6.1f} s  \n", section_, done_, points_, seconds_since(start_));
}

}  // namespace moe::bench
