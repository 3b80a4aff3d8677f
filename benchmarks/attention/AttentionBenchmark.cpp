//===- AttentionBenchmark.cpp - Times one attention on CPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attention-benchmark BATCH HEADS LENGTH DEPTH CAUSAL THREADS
//
// q, k and v are slices of one tensor [batch, length, 3, heads, depth]. For
// each line that is read runs the attention, then delta and the gradient, and
// prints the milliseconds of both parts, those of processors that both took
// together, and a checksum.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"
#include "llmc/Runtime/Comm/Backend.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

using namespace llmc::rt;

namespace {
using Index = AttentionIndex;
using Kind = AttentionIndexKind;

struct Sizes {
  int64_t batch, heads, length, depth;
  bool isCausal;
  int threads;
  int64_t width() const { return heads * depth; }
  int64_t tokens() const { return batch * length; }
};

AttentionShape makeShape(const Sizes &s, bool isGradient) {
  int64_t row = 3 * s.width(), d = s.depth, t = s.length, w = s.width();
  int64_t g = isGradient ? 1 : 0;
  AttentionShape shape;
  shape.isGradient = isGradient;
  shape.isCausal = s.isCausal;
  shape.scale = 1 / std::sqrt(static_cast<double>(d));
  shape.indices = {
      {Kind::batch, s.batch, t * row, t * row, t * row, 0, t * w, s.heads * t,
       g * t * row, g * t * row, g * t * row},
      {Kind::batch, s.heads, d, d, d, 0, d, t, g * d, g * d, g * d},
      {Kind::row, t, row, 0, 0, 0, w, 1, g * row},
      {Kind::column, t, 0, row, row, 0, 0, 0, 0, g * row, g * row},
      {Kind::depth, d, 1, 1, 0, 0, 0, 0, g, g},
      {Kind::value, d, 0, 0, 1, 0, 1, 0, 0, 0, g}};
  return shape;
}

/// One world with a call of each kind.
class Driver {
public:
  explicit Driver(const Sizes &sizes)
      : sizes(sizes), qkv(3 * sizes.tokens() * sizes.width()),
        gradients(qkv.size()), out(sizes.tokens() * sizes.width()),
        cotangent(out.size()), sums(sizes.tokens() * sizes.heads),
        delta(sums.size()) {
    WorldOptions options;
    options.devices = 1;
    options.threads = sizes.threads;
    world = makeCpuWorld(options);
    stream = *world->device(0).stream({"attention", 0, 4, 40});
    for (bool isGradient : {false, true}) {
      LibraryShape shape{"attention", makeShape(sizes, isGradient),
                         sizes.threads, 0};
      shape.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(shape);
      workspace[isGradient].resize(shape.workspaceBytes / 64 + 1);
      ops[isGradient] = *world->device(0).prepare(shape);
    }
    auto fill = [](std::vector<float> &values, double step) {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(std::sin(step * i));
      }
    };
    fill(qkv, 1.3);
    fill(cotangent, 0.7);
  }

  void forward() {
    int64_t w = sizes.width();
    call(false, {qkv.data(), qkv.data() + w, qkv.data() + 2 * w, out.data(),
                 sums.data()});
  }
  void gradient() {
    setDelta();
    int64_t w = sizes.width();
    call(true, {qkv.data(), qkv.data() + w, qkv.data() + 2 * w, sums.data(),
                delta.data(), cotangent.data(), gradients.data(),
                gradients.data() + w, gradients.data() + 2 * w});
  }
  double checksum() const {
    double sum = 0;
    for (float each : gradients) {
      sum += std::abs(each);
    }
    for (float each : out) {
      sum += std::abs(each);
    }
    return sum;
  }

private:
  void call(bool isGradient, std::vector<void *> buffers) {
    world->device(0).call(*stream, *ops[isGradient], buffers.data(),
                          static_cast<uint32_t>(buffers.size()),
                          workspace[isGradient].data(), origin);
    Status status = world->drain(std::chrono::minutes(5));
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
      std::exit(1);
    }
  }
  void setDelta() {
    for (int64_t token = 0; token < sizes.tokens(); ++token) {
      for (int64_t head = 0; head < sizes.heads; ++head) {
        int64_t at = token * sizes.width() + head * sizes.depth;
        constexpr int64_t width = 16;
        float lanes[width] = {}, sum = 0;
        for (int64_t i = 0; i < sizes.depth; ++i) {
          lanes[i % width] += out[at + i] * cotangent[at + i];
        }
        for (float lane : lanes) {
          sum += lane;
        }
        int64_t batch = token / sizes.length, row = token % sizes.length;
        delta[(batch * sizes.heads + head) * sizes.length + row] = sum;
      }
    }
  }

  struct alignas(64) Line {
    char bytes[64];
  };
  Sizes sizes;
  std::vector<float> qkv, gradients, out, cotangent, sums, delta;
  std::vector<Line> workspace[2];
  std::unique_ptr<World> world;
  Stream *stream = nullptr;
  const LibraryOp *ops[2] = {};
  Origin origin{"attention", ""};
};

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "expected BATCH HEADS LENGTH DEPTH CAUSAL THREADS, got %d "
                 "arguments\n",
                 argc - 1);
    return 1;
  }
  int64_t n[6];
  for (int i = 0; i < 6; ++i) {
    n[i] = std::atoll(argv[i + 1]);
  }
  Driver driver({n[0], n[1], n[2], n[3], n[4] != 0, static_cast<int>(n[5])});
  char line[64];
  while (std::fgets(line, sizeof(line), stdin)) {
    std::clock_t before = std::clock();
    double begin = now();
    driver.forward();
    double middle = now();
    driver.gradient();
    double end = now();
    double processor = 1e3 * static_cast<double>(std::clock() - before) /
                       static_cast<double>(CLOCKS_PER_SEC);
    std::printf("{\"forward\": %.4f, \"backward\": %.4f, \"processor\": "
                "%.4f, \"checksum\": %.6g}\n",
                middle - begin, end - middle, processor, driver.checksum());
    std::fflush(stdout);
  }
  return 0;
}
