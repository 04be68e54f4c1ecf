// The commands of moe-calibrate. Each adds itself to the app and returns its exit code through `code`.
#pragma once
#include <CLI/CLI.hpp>

namespace moe::bench {

void add_run(CLI::App& app, int& code);
void add_verify(CLI::App& app, int& code);
void add_replay(CLI::App& app, int& code);
void add_box(CLI::App& app, int& code);     ///< links between GPUs
void add_report(CLI::App& app, int& code);

}  // namespace moe::bench
