// What a wrong communication section or GPU file gets told.
#include "cost/load_comm.hpp"

#include <cstdio>
#include <fstream>

#include "catch.hpp"
#include "cost/load_gpu.hpp"
#include "cost/load_profile.hpp"

using namespace moe;

namespace {

const std::string kRoot = MOE_SIM_SOURCE_DIR;

std::string read(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A section with one thing changed, read as the profile loader reads it.
std::string told(const std::string& old, const std::string& fresh) {
  std::string text = read(kRoot + "/tests/data/profiles/comm-reference.yaml");
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  text.replace(at, old.size(), fresh);
  Diagnostics d;
  const Document document = parse_document(text, "p.yaml", d);
  CommCost cost;
  read_map(*document.root.find("comm"), "comm", d, [&](Fields& f) { bind_comm(f, cost); });
  CHECK(d.has_errors());
  return d.render();
}

bool says(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("both communication sections that ship load without a diagnostic", "[unit]") {
  for (const char* name : {"rtx-pro-6000", "h200"}) {
    Diagnostics d;
    const CommCost c = load_profile(kRoot + "/calibration/profiles/" + name + ".yaml", d).comm;
    INFO(d.render());
    CHECK(d.all().empty());
    CHECK(c.quality.median_pct > 0);
    CHECK(c.transport.count("shm") == 1);
  }
}

TEST_CASE("values are read at full precision and direct hops add their route's latency", "[unit]") {
  Diagnostics d;
  const CommCost c = load_profile(kRoot + "/tests/data/profiles/comm-reference.yaml", d).comm;
  CHECK(c.t_base_us == 4.680339258414592);
  CHECK(c.transport.at("p2p").adds_route_latency);
  CHECK_FALSE(c.transport.at("shm").adds_route_latency);
  CHECK(c.all_to_all.front().rate_GBps.at(8) == 14.261771490946773);
  CHECK(c.quality.range.at("ranks") == std::pair{2.0, 8.0});
}

TEST_CASE("unknown transports, missing values and empty ranges are reported", "[unit]") {
  CHECK(says(told("    p2p_x:", "    p2p_y:"), "unknown key `p2p_y`"));
  CHECK(says(told("    p2p_x:", "    p2p_y:"), "(comm.transports.p2p_y)"));
  CHECK(says(told("    - base_us:", "    - transports: [nvlnk]\n      base_us:"), "did you mean `nvlink`?"));
  CHECK(says(told("  wire_GBps: 53.0 ", "  wire_GBs: 53.0 "), "did you mean `wire_GBps`?"));
  CHECK(says(told("    - base_us:", "    - transports: [shm]\n      base_us: 1\n      peer_us: 1\n      first: 1\n      tau: 1\n      simple_us: 1\n"
                                    "      by_ranks: [{ranks: 2, rate_GBps: 1, threads: 64}]\n    - base_us:"),
             "the transport `shm` is in two entries"));
  CHECK(says(told("[1024, 4194304]", "[4194304, 1024]"), "`bytes` must be two numbers that ascend"));
  CHECK(says(told("rate_simple_GBps: 44.0 ", "rate_simple_GBps: 0 "), "it must be greater than 0"));
}

TEST_CASE("a GPU cannot offer more memory than it has", "[unit]") {
  std::string text = read(kRoot + "/calibration/gpus/rtx-pro-6000.yaml");
  text.replace(text.find("usable_memory: 95.0 GiB"), 23, "usable_memory: 97.0 GiB");
  const std::string file = "gpu-with-too-much.yaml";
  std::ofstream(file) << text;
  Diagnostics d;
  load_gpu(file, d);
  std::remove(file.c_str());
  CHECK(says(d.render(), "`usable_memory` exceeds `memory`"));
}

TEST_CASE("a GPU's usable memory is the installed one where the driver's figure is not known", "[unit]") {
  std::string text = read(kRoot + "/calibration/gpus/h200.yaml");
  const auto at = text.find("usable_memory");
  text.erase(at, text.find('\n', at) + 1 - at);
  const std::string file = "gpu-without-usable.yaml";
  std::ofstream(file) << text;
  Diagnostics d;
  const GpuSpec g = load_gpu(file, d);
  std::remove(file.c_str());
  CHECK(d.all().empty());
  CHECK(g.usable_bytes == g.memory_bytes);
}
