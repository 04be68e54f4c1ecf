// moe-calibrate: measures what the kernels of a decode step cost on this machine's GPUs.
#include <fmt/core.h>

#include <cstdio>

#include "commands.hpp"
#include "harness/check.hpp"

int main(int argc, char** argv) {
  CLI::App app{
      "Measures the GPUs of this machine for moe-sim: kernels of a decode step, memory, launches. The files it\n"
      "writes are read by `moe-sim fit`."};
  app.require_subcommand(1);
  int code = 0;
  moe::bench::add_run(app, code);
  moe::bench::add_verify(app, code);
  moe::bench::add_replay(app, code);
  moe::bench::add_box(app, code);
  moe::bench::add_report(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 3;
  }
  return code;
}
