#include "box/child.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "harness/check.hpp"

extern char** environ;

namespace moe::bench {
namespace {

/// Ours, with `changes` in place of variables of the same name.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e, name = entry.substr(0, entry.find('='));
    bool changed = name == "NCCL_NVLS_ENABLE";
    for (const auto& [key, value] : changes) changed = changed || key == name;
    if (!changed) all.push_back(entry);
  }
  all.emplace_back("NCCL_NVLS_ENABLE=0");
  for (const auto& [key, value] : changes) all.push_back(key + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& t : texts) all.push_back(t.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string ChildEnd::text() const {
  if (how == timed_out) return "took too long and was ended";
  return how == killed ? fmt::format("ended by signal {} ({})", code, strsignal(code)) : fmt::format("exit code {}", code);
}

ChildEnd run_child(const std::vector<std::string>& arguments,
                   const std::vector<std::pair<std::string, std::string>>& environment, double most_seconds) {
  std::vector<std::string> words{"moe-calibrate"}, variables = environment_with(environment);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = pointers(words), env = pointers(variables);
  pid_t pid = 0;
  if (const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), env.data()); error != 0)
    throw BenchError(fmt::format("cannot start this program again: {}", std::strerror(error)));
  const auto start = std::chrono::steady_clock::now();
  bool late = false;
  for (int status = 0;;) {
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done < 0) throw BenchError(fmt::format("lost a child process: {}", std::strerror(errno)));
    if (done == pid && late) return {ChildEnd::timed_out, 0};
    if (done == pid && WIFEXITED(status)) return {ChildEnd::exited, WEXITSTATUS(status)};
    if (done == pid) return {ChildEnd::killed, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    if (!late && std::chrono::steady_clock::now() - start > std::chrono::duration<double>(most_seconds)) {
      late = true;
      kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace moe::bench
