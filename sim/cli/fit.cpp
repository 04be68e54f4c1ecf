// moe-sim fit DIR --gpu G --out P: measurements -> profile.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.hpp"
#include "cli/fit_commands.hpp"
#include "cost/load_gpu.hpp"
#include "cost/load_profile.hpp"
#include "experiment/files.hpp"
#include "fit/fit_profile.hpp"
#include "fit/write_profile.hpp"

namespace moe {
namespace {

GpuSpec gpu_of(const std::string& name) {
  const std::string file = std::filesystem::exists(name) ? name : find_data(kGpus, name, "");
  if (file.empty())
    throw InputError(
        fmt::format("no GPU called `{}`\n  = help: {}", name, suggestion(name, data_names(kGpus, ""))));
  Diagnostics out;
  const GpuSpec gpu = load_gpu(file, out);
  if (out.has_errors()) throw InputError(out);
  return gpu;
}

/// Paths of the base that were not fitted.
template <class Path>
void take_over(std::map<std::string, Path>& into, const std::map<std::string, Path>& base) {
  for (const auto& [name, path] : base) into.emplace(name, path);
}

void add_base(Profile& profile, const std::string& file) {
  Diagnostics out;
  const Profile base = load_profile(file, out);
  if (out.has_errors()) throw InputError(out);
  if (base.gpu.name != profile.gpu.name)
    throw InputError(fmt::format("`{}` is about the GPU {}, not {}", file, base.gpu.name, profile.gpu.name));
  take_over(profile.dense_gemm, base.dense_gemm);
  take_over(profile.moe, base.moe);
  take_over(profile.attention, base.attention);
  take_over(profile.elementwise, base.elementwise);
  profile.provenance.insert(profile.provenance.end(), base.provenance.begin(), base.provenance.end());
}

void progress_line(const Streams& s, std::size_t done, std::size_t total, const std::string& path) {
  constexpr std::size_t kBar = 24;
  s.err << fmt::format("\r  {}  {}/{}  {:<60.60}",
                       pad_right(bar(static_cast<double>(done) / static_cast<double>(total), kBar), kBar),
                       done, total, path);
  if (done == total) s.err << "\n";
  s.err.flush();
}

std::vector<std::string> provenance(const Protocol& protocol, const GpuSpec& gpu, const FitArguments& a) {
  std::vector<std::string> lines = protocol.sources;
  lines.push_back(fmt::format("fitted by moe-sim fit with the protocol {} ({}), GPU facts {}",
                              std::filesystem::path(protocol.file).filename().string(), protocol.hash,
                              gpu.name));
  lines.push_back(fmt::format(
      "one shape of {} is held out by a fixed hash; all errors are on held-out shapes", protocol.hold_out));
  lines.push_back(fmt::format(
      "rows whose data fits into {:.0f} MB between two uses were read from L2: the fit has an L2 term "
      "for them and gives them half the weight; a decode step is charged cold",
      gpu.l2_resident_bytes * 1e-6));
  for (const std::string& w : a.leave_out) lines.push_back("left out: " + w);
  if (a.points > 0) lines.push_back(fmt::format("fitted on at most {} rows per path", a.points));
  return lines;
}

/// Communication costs are not fitted from kernel rows: they are those of the base.
std::string comm_section(const FitArguments& a) { return a.base.empty() ? "" : comm_text(a.base); }

std::string table_points(const Profile& p) {
  std::size_t points = 0;
  for (const auto& [name, path] : p.dense_gemm) points += path.residuals.value.size();
  for (const auto& [name, path] : p.moe) points += path.residuals.value.size();
  for (const auto& [name, path] : p.attention) points += path.residuals.value.size();
  for (const auto& [name, path] : p.elementwise) points += path.residuals.value.size();
  return grouped(static_cast<double>(points));
}

}  // namespace

Profile named_profile(const std::string& name) {
  const std::string file = std::filesystem::exists(name) ? name : find_data(kProfiles, name, "");
  if (file.empty())
    throw InputError(
        fmt::format("no profile `{}`\n  = help: {}", name, suggestion(name, data_names(kProfiles, ""))));
  Diagnostics out;
  Profile profile = load_profile(file, out);
  if (out.has_errors()) throw InputError(out);
  return profile;
}

int fit_command(const FitArguments& a, const Streams& s) {
  const auto begin = std::chrono::steady_clock::now();
  const GpuSpec gpu = gpu_of(a.gpu);
  const Measurements m = read_measurements(a.folder, a.only);
  const Protocol protocol =
      find_protocol(a.folder, a.protocol, std::filesystem::path(a.out).parent_path().string());
  FitOptions options;
  for (const std::string& w : a.leave_out) options.leave_out.push_back(parse_where(w));
  options.points = a.points;
  options.residuals = !a.no_tables;
  options.threads =
      a.threads > 0 ? a.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (isatty(STDERR_FILENO) != 0)
    options.progress = [&](std::size_t done, std::size_t total, const std::string& path) {
      progress_line(s, done, total, path);
    };
  Profile profile = fit_profile(m, protocol, gpu, options);
  profile.provenance = provenance(protocol, gpu, a);
  const std::size_t fitted =
      profile.dense_gemm.size() + profile.moe.size() + profile.attention.size() + profile.elementwise.size();
  if (!a.base.empty()) add_base(profile, a.base);
  const std::string text = write_profile(profile, comm_section(a));
  std::ofstream file(a.out, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", a.out));
  double rows = 0;
  for (const InputFile& f : m.files) rows += static_cast<double>(f.rows);
  s.out << fmt::format("{} kernel paths from {} rows -> {} ({:.0f} KB, {} table points) in {:.1f} s\n",
                       fitted, grouped(rows), a.out, static_cast<double>(text.size()) * 1e-3,
                       table_points(profile),
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  s.out << fmt::format("next  moe-sim evaluate {} {} --rows held-out\n", a.out, a.folder);
  return kAnswered;
}

}  // namespace moe
