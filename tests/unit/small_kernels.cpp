// elementwise.csv: small kernels of the suite.
#include "catch.hpp"
#include "fit/samples.hpp"
#include "temporary.hpp"

using namespace moe;

TEST_CASE("small kernels are fitted one by one, norms by the length of a row", "[unit]") {
  const test::Folder folder;
  folder.write("elementwise.csv", "path,op,rows,cols,latency_us\ns/row_reduction,rmsnorm,8,4096,2.5\ns/elementwise,silu_mul,8,1024,2\n");
  const Protocol protocol = load_protocol(folder.write("protocol.yaml", "schema: 1\nsources: [a test]\nformats: {bf16: {bytes_per_weight: 2, bytes_per_activation: 2, compute: bf16}}\n"));
  const Measurements m = read_measurements(folder.path());
  const std::vector<PathData> paths = paths_of(m, protocol);
  REQUIRE(paths.size() == 2);
  for (const PathData& path : paths) {
    const std::vector<Sample> rows = samples_of(m, path, protocol, GpuSpec{});
    REQUIRE(rows.size() == 1);
    const bool norm = path.name == "s/rmsnorm";
    CHECK((norm || path.name == "s/silu_mul"));
    CHECK(rows[0].a == (norm ? 4.096 : 0));              // thousand values of a row
    CHECK(rows[0].b == (norm ? 4 : 6) * 8.0 * (norm ? 4096 : 1024));  // 16 bit in and out; gate and up in, 16 bit out
  }
}
