// moe-sim fit DIR --gpu G --out P: measurements -> profile.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <type_traits>

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
  take_over(profile.mla_module, base.mla_module);
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

/// One folder, its protocol, and what was fitted from it.
struct FittedFolder {
  Protocol protocol;
  Profile profile;
};

FittedFolder fit_folder(const std::string& folder, const GpuSpec& gpu, const FitArguments& a, const Streams& s) {
  const Measurements m = read_measurements(folder, a.only);
  FittedFolder f{find_protocol(m, a.protocol, std::filesystem::path(a.out).parent_path().string()), {}};
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
  f.profile = fit_profile(m, f.protocol, gpu, options);
  f.profile.provenance = provenance(f.protocol, gpu, a);
  return f;
}

/// Adds what one of several folders gave. Two folders cannot fit one path: which one should hold?
void add_folder(Profile& into, const Profile& from, const std::string& folder) {
  const std::string prefix = std::filesystem::path(folder + "/").parent_path().filename().string() + "/";
  for_sections(into, [&](const std::string& section, auto& paths) {
    in_section(from, section, [&](const auto& more) {
      if constexpr (std::is_same_v<std::decay_t<decltype(paths)>, std::decay_t<decltype(more)>>)
        for (const auto& [name, path] : more)
          if (!paths.emplace(name, path).second)
            throw InputError(fmt::format("the path `{}` is in `{}` and in a folder before it\n  = help: name one of them "
                                         "in its protocol (docs/measurements.md)",
                                         name, folder));
    });
  });
  for (ProfileInput input : from.inputs) {
    input.file = prefix + input.file;
    into.inputs.push_back(input);
  }
  for (const std::string& line : from.provenance)
    if (std::find(into.provenance.begin(), into.provenance.end(), line) == into.provenance.end())
      into.provenance.push_back(line);
}

std::size_t paths_in(const Profile& p) {
  std::size_t n = 0;
  for_sections(p, [&](const char*, const auto& paths) { n += paths.size(); });
  return n;
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
  Profile profile;
  for (const std::string& folder : a.folders) {
    FittedFolder f = fit_folder(folder, gpu, a, s);
    if (a.folders.size() == 1)
      profile = std::move(f.profile);
    else
      add_folder(profile, f.profile, folder);
  }
  profile.gpu = gpu;
  const std::size_t fitted = paths_in(profile);
  if (!a.base.empty()) add_base(profile, a.base);
  const std::string text = write_profile(profile, comm_section(a));
  std::ofstream file(a.out, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", a.out));
  double rows = 0;
  for (const ProfileInput& i : profile.inputs) rows += i.rows;
  s.out << fmt::format("{} kernel paths from {} rows -> {} ({:.0f} KB, {} table points) in {:.1f} s\n",
                       fitted, grouped(rows), a.out, static_cast<double>(text.size()) * 1e-3,
                       grouped(static_cast<double>(table_points(profile))),
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  s.out << fmt::format("next  moe-sim evaluate {} {} --rows held-out\n", a.out, a.folders.front());
  return kAnswered;
}

}  // namespace moe
