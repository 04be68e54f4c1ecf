// import-machine --measured: bandwidths of moe-calibrate's p2p.csv in the place of assumed ones.
#include <sstream>

#include "catch.hpp"
#include "cli/network.hpp"
#include "import/sketch.hpp"
#include "machine/load.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

/// Four GPUs on two switches of one socket, as NCCL dumps them.
const std::string kDump = [] {
  const auto gpu = [](int n) {
    return "<pci busid=\"0000:0" + std::to_string(n) + ":00.0\" class=\"0x030200\" vendor=\"0x10de\" link_speed=\"32.0 GT/s PCIe\" "
           "link_width=\"16\"><gpu dev=\"" + std::to_string(n) + "\" sm=\"120\" rank=\"" + std::to_string(n) + "\"></gpu></pci>";
  };
  const std::string open = "<pci busid=\"0000:0a:00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">";
  return "<system version=\"1\"><cpu numaid=\"0\" vendor=\"GenuineIntel\">" + open + gpu(0) + gpu(1) + "</pci>" + open + gpu(2) +
         gpu(3) + "</pci></cpu></system>";
}();

/// 64 MiB in t us are 67108.864 / t GB/s: 1250 us are 53.69, 1600 us are 41.94, 2000 us are 33.55.
const std::string kPairs =
    "method,from,to,direction,bytes,latency_us\n"
    "copy,0,1,one,67108864,1250\ncopy,0,2,one,67108864,1600\ncopy,host,3,one,67108864,2000\n"
    "copy,0,1,both,67108864,1\ncopy,0,1,one,16,1.5\nstore,0,1,one,67108864,1\nflag,0,1,one,4,0.7\n";

struct Imported {
  int code = 0;
  std::string text, errors;
};

Imported import(const std::string& pairs, const std::string& communicators, const std::string& transport = "default") {
  const test::Folder folder;
  folder.write("p2p.csv", pairs);
  if (!communicators.empty()) folder.write("communicators.csv", communicators);
  ImportMachineArguments a;
  a.file = folder.write("dump.xml", kDump);
  a.measured = folder.path();
  a.transport = transport;
  std::ostringstream out, err;
  Imported i;
  try {
    i.code = import_machine_command(a, {out, err});
  } catch (const InputError& e) {
    i.code = 2, i.errors = e.what();
  }
  i.text = out.str();
  return i;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("measured transfers set the links that they cross", "[unit]") {
  const Imported i = import(kPairs, "path,gpus,channels,graph_GBps\nnccl-2.28.9/default,4,8,24\nnccl-2.28.9/p2p_off,4,4,10\n");
  REQUIRE(i.code == 0);
  // The best transfer of each: GPU 0 and 1 with each other, GPU 2 and its switch through 0>2, GPU 3 from the host.
  CHECK(has(i.text, "{from: gpu0, to: sw0, kind: port, bandwidth: 53.69 GB/s"));
  CHECK(has(i.text, "{from: gpu1, to: sw0, kind: port, bandwidth: 53.69 GB/s"));
  CHECK(has(i.text, "{from: gpu2, to: sw1, kind: port, bandwidth: 41.94 GB/s"));
  CHECK(has(i.text, "{from: gpu3, to: sw1, kind: port, bandwidth: 33.55 GB/s"));
  CHECK(has(i.text, "{from: sw0, to: rp0, kind: uplink, bandwidth: 41.94 GB/s"));
  CHECK(has(i.text, "{from: sw1, to: rp1, kind: uplink, bandwidth: 41.94 GB/s"));
  CHECK(has(i.text, "{up_to_ranks: 4, channels: 8, graph_bandwidth: 24 GB/s}"));
  CHECK_FALSE(has(i.text, "nothing of this machine was measured"));
  Diagnostics d;
  parse_machine(i.text, "imported", d);
  CHECK_FALSE(d.has_errors());
}

TEST_CASE("the transport p2p_off is the same machine, host-bounced", "[unit]") {
  const Imported i = import(kPairs, "path,gpus,channels,graph_GBps\nnccl-2.28.9/default,4,8,24\nnccl-2.28.9/p2p_off,4,4,10\n", "p2p_off");
  REQUIRE(i.code == 0);
  CHECK(has(i.text, "p2p_level: \"off\""));
  CHECK(has(i.text, "{up_to_ranks: 4, channels: 4, graph_bandwidth: 10 GB/s}"));
}

TEST_CASE("measurements of another machine, or damaged ones, are refused with the place", "[unit]") {
  const std::string head = "method,from,to,direction,bytes,latency_us\n";
  CHECK(has(import(head + "copy,0,7,one,67108864,1250\n", "").errors, "name GPU 7"));
  CHECK(has(import(head + "copy,0,x,one,67108864,1250\n", "").errors, "neither a GPU number nor `host`"));
  CHECK(has(import(head + "copy,0,1,one,67108864,0\n", "").errors, "a time is above 0"));
  CHECK(has(import(head + "copy,0,1,one,16,1.5\n", "").errors, "no copy of 32 MiB or more"));
  CHECK(has(import("from,to\n0,1\n", "").errors, "the column `method` is missing"));
  CHECK(has(import(kPairs, "path,gpus,channels,graph_GBps\nnccl-2/default,4,8,24\n", "p2p_off").errors, "no transport `p2p_off`"));
}
