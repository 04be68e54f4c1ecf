#include "cli/import_commands.hpp"
namespace moe {
int import_bench_command(const ImportBenchArguments&, const Streams&) { return kBug; }
}  // namespace moe
