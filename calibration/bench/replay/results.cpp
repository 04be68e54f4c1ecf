#include "replay/results.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/check.hpp"
#include "harness/device_state.hpp"

namespace moe::bench {

using Json = nlohmann::ordered_json;

struct ReplayResults::Document {
  Json json;
};

namespace {

Json head_of(const ReplayProgram& p) {
  return {{"name", p.name},       {"hash", p.hash},     {"experiment", Json::parse(p.origin)}, {"model", p.model},
          {"checkpoint", p.checkpoint}, {"stack", p.stack}, {"layers", p.layers},               {"ranks", p.ranks},
          {"first_rank_alone", p.first_rank_alone}};
}

double rounded(double us) { return static_cast<double>(static_cast<long long>(us * 1e3 + (us < 0 ? -0.5 : 0.5))) * 1e-3; }

}  // namespace

ReplayResults::ReplayResults(std::string folder, bool resume) : folder_(std::move(folder)), document_(new Document) {
  std::filesystem::create_directories(folder_);
  Json& j = document_->json;
  j = {{"schema", 1}, {"kind", "moe-calibrate replay"}, {"device", describe_device(0)}, {"results", Json::array()}};
  const std::string file = folder_ + "/results.json";
  if (!resume || !std::filesystem::exists(file)) return;
  try {
    std::ifstream in(file);
    Json old = Json::parse(in);
    j["results"] = old.at("results");
  } catch (const nlohmann::json::exception& e) {
    throw BenchError(fmt::format("`{}` is damaged, nothing to resume: {}", file, e.what()));
  }
}

ReplayResults::~ReplayResults() { delete document_; }

bool ReplayResults::has(const ReplayProgram& program) const {
  for (const Json& r : document_->json["results"])
    if (r.at("name") == program.name && r.at("hash") == program.hash && r.contains("step_us") &&
        r.value("first_rank_alone", false) == program.first_rank_alone)
      return true;
  return false;
}

void ReplayResults::add(const ReplayProgram& program, const Played& played) {
  Json r = head_of(program);
  r["step_us"] = {{"median", rounded(played.median_us)}, {"low", rounded(played.low_us)}, {"high", rounded(played.high_us)},
                  {"replays", played.replays}};
  r["simulated_step_us"] = rounded(program.simulated_step_us);
  r["empty_graph_us"] = rounded(played.empty_graph_us);
  r["weight_bytes"] = played.weight_bytes;
  r["cache_bytes"] = played.cache_bytes;
  r["sm_mhz"] = played.sm_mhz;
  r["sustained"] = {{"median_us", rounded(played.sustained_us)}, {"sm_mhz", played.sustained_sm_mhz}, {"throttle", played.throttle}};
  r["ops"] = Json::array();
  for (const GroupTime& g : played.groups)
    r["ops"].push_back({{"name", g.name}, {"category", g.category}, {"class", g.op_class}, {"path", g.path},
                        {"calls", g.calls}, {"alone_us", rounded(g.alone_us)}, {"in_step_us", rounded(g.in_step_us)}});
  document_->json["results"].push_back(r);
  write();
}

void ReplayResults::refuse(const ReplayProgram& program, const std::vector<std::string>& reasons) {
  Json r = head_of(program);
  r["refused"] = reasons;
  document_->json["results"].push_back(r);
  write();
}

void ReplayResults::write() const {
  const std::string file = folder_ + "/results.json", part = file + ".part";
  std::ofstream csv(folder_ + "/results.csv");
  csv << "program,name,category,class,path,calls,alone_us,in_step_us\n";
  for (const Json& r : document_->json["results"]) {
    if (!r.contains("step_us")) continue;
    const std::string program = r.at("name");
    csv << fmt::format("{},step,,,,1,{:.3f},{:.3f}\n", program, r["step_us"]["median"].get<double>(), r["step_us"]["median"].get<double>());
    for (const Json& o : r["ops"])
      csv << fmt::format("{},{},{},{},{},{},{:.3f},{:.3f}\n", program, o["name"].get<std::string>(), o["category"].get<std::string>(),
                         o["class"].get<std::string>(), o["path"].get<std::string>(), o["calls"].get<int>(),
                         o["alone_us"].get<double>(), o["in_step_us"].get<double>());
  }
  std::ofstream(part) << document_->json.dump(1) << "\n";
  std::filesystem::rename(part, file);
}

}  // namespace moe::bench
