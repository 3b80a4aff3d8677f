//===- KernelBits.cpp - The bits of each kernel, here and there -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-kernel-bits record <target> <kernels.so> <truth>
//   llmc-kernel-bits compare <target> <kernels.so> <truth>
//
// Runs each kernel of an object on a device of the target, on random memory
// that its number alone decides, and writes down checksums of what it wrote:
// one for each 4 KiB. On another machine the same kernels, in the same order,
// are compared with these. The last line is
//
//   64 of 64 kernels have the bits that were recorded
//
// Ends with 1 where not all have, after a line for each that differs: the
// argument and the bytes from which on, with what lies there. What is not a
// number counts as one number, since processors differ in its bits.
//
// Tests: test/Codegen/kernel-bits.test, and benchmarks/gpu/run.sh on a GPU.
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"
#include "Binding/Objects.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Random.h"
#include "llmc/Runtime/Comm/Backend.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <sstream>

using namespace llmc;
using namespace llmc::rt;
using plan::Access;
using plan::KernelArgument;
using plan::KernelInfo;

constexpr uint64_t lineBytes = 64, chunkBytes = 4096;
constexpr std::chrono::minutes patience(5);

static uint64_t roundUp(uint64_t bytes) {
  return (bytes + lineBytes - 1) / lineBytes * lineBytes;
}

static int64_t countElements(const KernelArgument &argument) {
  return argument.extentBytes / sizeOf(argument.dtype);
}

/// Floats of both signs; whole numbers from 0 to 3, since some are indices.
static void draw(const KernelArgument &argument, const std::string &name,
                 std::byte *to) {
  RandomStream stream(1, name);
  for (int64_t i = 0; i < countElements(argument); ++i) {
    if (isFloat(argument.dtype)) {
      storeElement(argument.dtype, to, i, 4 * stream.uniform(i) - 2);
    } else {
      uint64_t most = argument.dtype == DType::i1 ? 2 : 4;
      storeInteger(argument.dtype, to, i, int64_t(stream.bits(i) % most));
    }
  }
}

/// Checksums of the chunks of what a kernel left in an argument.
static std::vector<uint64_t> sum(const KernelArgument &argument,
                                 std::byte *bytes) {
  for (int64_t i = 0; isFloat(argument.dtype) && i < countElements(argument);
       ++i) {
    if (std::isnan(loadElement(argument.dtype, bytes, i))) {
      storeElement(argument.dtype, bytes, i, NAN);
    }
  }
  std::vector<uint64_t> sums;
  uint64_t size = argument.extentBytes;
  for (uint64_t begin = 0; begin < size; begin += chunkBytes) {
    sums.push_back(hash64(bytes + begin, std::min(chunkBytes, size - begin)));
  }
  return sums;
}

/// What two objects must have in common, so that a comparison has a meaning.
static std::string describe(const KernelInfo &kernel) {
  std::string text = fmt::format("{} scalars", kernel.scalars.size());
  for (const KernelArgument &argument : kernel.arguments) {
    text += fmt::format(", {} {} {}", static_cast<int>(argument.access),
                        argument.extentBytes, nameOf(argument.dtype));
  }
  return hexDigits(hash64(text));
}

namespace {
/// A device of the target, with memory for the largest kernel.
class Bench {
public:
  static Result<std::unique_ptr<Bench>> open(const std::string &target,
                                             const std::string &path) {
    auto bench = std::make_unique<Bench>();
    LLMC_TRY_ASSIGN(const Backend *backend, findBackend(target));
    WorldOptions options;
    options.threads = 1;
    LLMC_TRY_ASSIGN(bench->world, backend->makeWorld(options));
    LLMC_TRY_ASSIGN(const void *data, bench->world->device(0).load(path));
    if (!data) {
      return makeError(ErrorKind::mismatch, path + ": expected a manifest");
    }
    LLMC_TRY_ASSIGN(bench->manifest, plan::parseManifest(data));
    LLMC_TRY(bench->makeRoom());
    return bench;
  }

  /// The checksums of each argument that the kernel writes; the memory of the
  /// others stays as it was drawn, and is summed too.
  Result<std::vector<std::vector<uint64_t>>> run(size_t number);

  const std::vector<KernelInfo> &kernels() const { return manifest.kernels; }
  /// What the last kernel left there.
  std::string show(size_t number, size_t argument, uint64_t begin) const;

private:
  Status makeRoom();
  std::byte *at(const KernelInfo &kernel, size_t argument) const;

  std::unique_ptr<World> world;
  plan::Manifest manifest;
  std::unique_ptr<test::Mirror> memory;
  Stream *stream = nullptr;
};
} // namespace

static uint64_t bytesOf(const KernelInfo &kernel, size_t arguments) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < arguments; ++i) {
    bytes += roundUp(kernel.arguments[i].extentBytes);
  }
  return bytes;
}

Status Bench::makeRoom() {
  uint64_t most = lineBytes;
  for (const KernelInfo &kernel : manifest.kernels) {
    most = std::max(most, bytesOf(kernel, kernel.arguments.size()) +
                              roundUp(kernel.scratchBytes));
  }
  Device &device = world->device(0);
  memory = std::make_unique<test::Mirror>(*world, device, most);
  LLMC_TRY_ASSIGN(stream, device.stream({"kernels", 0, 8, 512}));
  return Status::success();
}

std::byte *Bench::at(const KernelInfo &kernel, size_t argument) const {
  return memory->host() + bytesOf(kernel, argument);
}

Result<std::vector<std::vector<uint64_t>>> Bench::run(size_t number) {
  const KernelInfo &info = manifest.kernels[number];
  LLMC_TRY_ASSIGN(const Kernel *kernel,
                  world->device(0).kernel(exec::shapeOf(manifest, info)));
  std::vector<void *> buffers;
  std::vector<int64_t> scalars;
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    draw(info.arguments[i], fmt::format("{}/{}", number, i), at(info, i));
    buffers.push_back(memory->at(at(info, i)));
  }
  for (const plan::Interval &interval : info.scalars) {
    scalars.push_back(interval.low);
  }
  LLMC_TRY(memory->push());
  Launch launch{kernel,
                buffers.data(),
                static_cast<uint32_t>(buffers.size()),
                scalars.data(),
                static_cast<uint32_t>(scalars.size()),
                memory->at(at(info, buffers.size()))};
  world->device(0).launch(*stream, launch, {info.name, ""});
  LLMC_TRY(world->drain(patience));
  LLMC_TRY(memory->pull());
  std::vector<std::vector<uint64_t>> sums;
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    sums.push_back(sum(info.arguments[i], at(info, i)));
  }
  return sums;
}

std::string Bench::show(size_t number, size_t argument, uint64_t begin) const {
  const KernelInfo &info = manifest.kernels[number];
  DType type = info.arguments[argument].dtype;
  const std::byte *bytes = at(info, argument) + begin;
  int64_t left = (info.arguments[argument].extentBytes - begin) / sizeOf(type);
  std::string text;
  for (int64_t i = 0; i < std::min<int64_t>(left, 4); ++i) {
    text += fmt::format("{}{}", i ? ", " : "", loadElement(type, bytes, i));
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The truth: a line for each kernel
//===----------------------------------------------------------------------===//

static Status record(Bench &bench, const std::string &path) {
  std::string text;
  for (size_t i = 0; i < bench.kernels().size(); ++i) {
    const KernelInfo &kernel = bench.kernels()[i];
    LLMC_TRY_ASSIGN(std::vector<std::vector<uint64_t>> sums, bench.run(i));
    text += kernel.name + " " + describe(kernel);
    for (const std::vector<uint64_t> &argument : sums) {
      text += " |";
      for (uint64_t each : argument) {
        text += " " + hexDigits(each);
      }
    }
    text += "\n";
  }
  std::cout << bench.kernels().size() << " kernels recorded\n";
  return writeFileAtomically(path, text);
}

/// "": the kernel has the recorded bits.
static Result<std::string> findDifference(Bench &bench, size_t number,
                                          const std::string &line) {
  std::istringstream words(line);
  std::string name, shape, word;
  words >> name >> shape;
  if (shape != describe(bench.kernels()[number])) {
    return fmt::format("recorded as {} with other arguments", name);
  }
  LLMC_TRY_ASSIGN(std::vector<std::vector<uint64_t>> sums, bench.run(number));
  for (size_t i = 0; i < sums.size(); ++i) {
    words >> word; // The bar in front of an argument.
    for (size_t k = 0; k < sums[i].size(); ++k) {
      words >> word;
      if (word != hexDigits(sums[i][k])) {
        return fmt::format("other bits in argument {} from byte {} on: {}", i,
                           k * chunkBytes,
                           bench.show(number, i, k * chunkBytes));
      }
    }
  }
  return std::string();
}

static Result<bool> compare(Bench &bench, const std::string &path) {
  LLMC_TRY_ASSIGN(std::string text, readFile(path));
  std::istringstream lines(text);
  size_t recorded = 0, equal = 0;
  for (std::string line; std::getline(lines, line); ++recorded) {
    if (recorded >= bench.kernels().size()) {
      continue;
    }
    LLMC_TRY_ASSIGN(std::string difference,
                    findDifference(bench, recorded, line));
    equal += difference.empty();
    if (!difference.empty()) {
      std::cout << bench.kernels()[recorded].name << ": " << difference << "\n";
    }
  }
  size_t all = std::max(recorded, bench.kernels().size());
  std::cout << equal << " of " << all
            << " kernels have the bits that were recorded\n";
  return equal == all;
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 4 || (words[0] != "record" && words[0] != "compare")) {
    std::cerr << "usage: llmc-kernel-bits record|compare <target> <kernels.so> "
                 "<truth>\n";
    return 2;
  }
  auto go = [&]() -> Result<bool> {
    LLMC_TRY_ASSIGN(std::unique_ptr<Bench> bench,
                    Bench::open(words[1], words[2]));
    if (words[0] == "compare") {
      return compare(*bench, words[3]);
    }
    LLMC_TRY(record(*bench, words[3]));
    return true;
  };
  Result<bool> good = go();
  if (!good) {
    std::cerr << "llmc-kernel-bits: " << describe(good.error()) << "\n";
    return exitCode(good.kind());
  }
  return *good ? 0 : 1;
}
