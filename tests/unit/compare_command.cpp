// moe-sim compare as a user runs it: exit codes, a saved result against its experiment, a ranking that flips.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "cli/commands.hpp"
#include "repository.hpp"

namespace moe {
namespace {

namespace fs = std::filesystem;

/// A folder with experiments of its own, beside copies of nothing: the data is found by absolute paths.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "moe-sim-compare-test") { fs::create_directories(path_); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string experiment(const std::string& name, const std::string& model, const std::string& checkpoint, int tp,
                         const std::string& machine = "turin-2s-direct") const {
    const std::string file = path_ / (name + ".yaml"), root = test::root();
    std::ofstream(file) << "schema: 1\nmodel: " << root << "/models/" << model << ".yaml\ncheckpoint: " << checkpoint
                        << "\nmachine: " << root << "/topologies/" << machine << ".yaml\nprofile: " << root
                        << "/calibration/profiles/rtx-pro-6000.yaml\nstack: " << root
                        << "/calibration/stacks/sglang-0.5.14.yaml\nkv_dtype: fp8\nplan: {tp: " << tp
                        << "}\nbatch: {sequences: 1, context: 8k}\n";
    return file;
  }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

struct Answer {
  int code = 0;
  std::string out, err;
};

template <class Command>
Answer captured(Command command) {
  std::ostringstream out, err;
  const Streams streams{out, err, false};
  const int code = guarded(streams, [&] { return command(streams); });
  return {code, out.str(), err.str()};
}

Answer compared(CompareArguments a) {
  return captured([&](const Streams& s) { return compare_command(a, s); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("compare answers, refuses and fails with the exit codes of the README", "[unit]") {
  const Folder folder;
  const std::string tp4 = folder.experiment("tp4", "minimax-m2.5", "nvfp4", 4), tp8 = folder.experiment("tp8", "minimax-m2.5", "nvfp4", 8);
  CompareArguments a;
  a.files = {tp4, tp8};
  const Answer both = compared(a);
  CHECK(both.code == kAnswered);
  CHECK(has(both.out, "plan.tp  4 → 8"));
  a.json = true;
  const auto json = nlohmann::json::parse(compared(a).out);
  double sum = 0;
  for (const auto& part : json["comparisons"][0]["categories"]) sum += part["change_ms"].get<double>();
  CHECK(sum == Approx(json["comparisons"][0]["difference_ms"].get<double>()));
  a.json = false;
  a.files = {tp8, tp4};
  a.set = {"batch.sequences=64"};
  a.fail_if_slower = "2%";
  const Answer slower = compared(a);
  CHECK(slower.code == kThreshold);
  CHECK(has(slower.err, "slower than tp8, more than 2 %"));
  a = {};
  a.files = {tp4, folder.experiment("kimi", "kimi-k2.5", "int4", 8)};
  CHECK(compared(a).code == kBadInput);
  a.anyway = true;
  CHECK(compared(a).code != kBadInput);
  a = {};
  a.files = {folder.experiment("tp1", "minimax-m2.5", "nvfp4", 1), tp8};
  const Answer infeasible = compared(a);
  CHECK(infeasible.code == kNoAnswer);
  CHECK(has(infeasible.out, "tp1: no answer: does not fit"));
}

TEST_CASE("A saved result and its experiment are the same run", "[unit]") {
  const Folder folder;
  const std::string tp8 = folder.experiment("tp8", "minimax-m2.5", "nvfp4", 8);
  RunArguments run;
  run.experiments = {tp8};
  run.out_dir = folder.path() + "/saved";
  REQUIRE(captured([&](const Streams& s) { return run_command(run, s); }).code == kAnswered);
  CompareArguments a;
  a.files = {folder.path() + "/saved/result.json", tp8};
  const Answer same = compared(a);
  CHECK(same.code == kAnswered);
  CHECK(has(same.out, "tp8 and saved are equally fast."));
  CHECK(has(same.out, "differs in   nothing"));
  a.flip = "batch=1..8";
  CHECK(compared(a).code == kBadInput);
  a.flip.clear();
  a.set = {"batch.sequences=8"};
  CHECK(has(compared(a).err, "`--set` simulates again"));
}

TEST_CASE("A flip names the value at which the other plan is faster, and why a plan has no answer", "[unit]") {
  const Folder folder;
  CompareArguments a;
  // Hops through host memory: the longer ring costs 1 ms of 10 at batch 1, half the weights per GPU gain 20 ms at 128.
  const char* machine = "pcie-2s-host-bounced";
  a.files = {folder.experiment("tp4", "minimax-m2.5", "nvfp4", 4, machine),
             folder.experiment("tp8", "minimax-m2.5", "nvfp4", 8, machine)};
  a.flip = "batch=1..512";
  const Answer flip = compared(a);
  CHECK(flip.code == kAnswered);
  CHECK(has(flip.out, "The fastest changes from tp4 to tp8 at batch.sequences"));
  CHECK(has(flip.out, "— tp4 at 256: does not fit"));
}

}  // namespace moe
