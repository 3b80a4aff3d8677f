//===- Measure.cpp - Runs the forms of a descriptor -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In rounds, each form a few times in each, so that what else the machine does
// meets all of them; the least time of a form counts.
//
// Tested by test/Runtime/Forms/FormsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Forms/Forms.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace llmc::rt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 7;
/// A form runs this long in a round, but once at least.
constexpr double secondsOfRound = 4e-3;
constexpr std::chrono::minutes deadline(5);

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The elements of a contraction's buffers, in the descriptor's order.
std::vector<uint64_t> elementsOf(const ContractionShape &shape) {
  auto extent = [&](int64_t ContractionIndex::*stride) {
    uint64_t last = 0;
    for (const ContractionIndex &index : shape.indices) {
      last += static_cast<uint64_t>(std::max<int64_t>(index.size - 1, 0) *
                                    (index.*stride));
    }
    return last + 1;
  };
  std::vector<uint64_t> elements = {extent(&ContractionIndex::strideA),
                                    extent(&ContractionIndex::strideB)};
  if (shape.hasBias) {
    elements.push_back(extent(&ContractionIndex::strideBias));
  }
  elements.push_back(extent(&ContractionIndex::strideC));
  return elements;
}

/// The forms of one descriptor, made ready on a device of their own.
class Measurement {
public:
  Measurement(const Backend &backend, const ContractionShape &shape,
              int threads)
      : backend(backend), shape(shape), threads(threads) {}

  /// Forms but the first that the device has not got are left out.
  Status prepare(const std::vector<LibraryForm> &forms) {
    WorldOptions options;
    options.threads = options.threadsPerDevice = threads;
    LLMC_TRY_ASSIGN(world, backend.makeWorld(options));
    Device &device = world->device(0);
    uint64_t workspace = 0;
    for (const LibraryForm &form : forms) {
      LibraryShape library{"measured", shape, threads, 0, form.number};
      LLMC_TRY_ASSIGN(library.workspaceBytes,
                      backend.libraryWorkspace(library));
      workspace = std::max(workspace, library.workspaceBytes);
      Result<const LibraryOp *> op = device.prepare(library);
      if (op.ok()) {
        ops.push_back(*op);
        prepared.push_back(form);
      } else if (ops.empty() || op.kind() != ErrorKind::mismatch) {
        return op.status();
      }
    }
    LLMC_TRY(reserve(device, workspace));
    auto words = static_cast<uint32_t>(mostCalls * buffers.size());
    LLMC_TRY_ASSIGN(stream, device.stream({"measured", 0, mostCalls, words}));
    return Status::success();
  }

  const std::vector<LibraryForm> &forms() const { return prepared; }

  /// Seconds of a call of a form that was prepared, of `calls` one after the
  /// other.
  Result<double> run(size_t form, int calls) {
    static const Origin origin{"measured", "", 0};
    Clock::time_point begin = Clock::now();
    for (int done = 0; done < calls;) {
      int some = std::min(calls - done, mostCalls);
      for (int i = 0; i < some; ++i) {
        world->device(0).call(*stream, *ops[form], buffers.data(),
                              static_cast<uint32_t>(buffers.size()), workspace,
                              origin);
      }
      LLMC_TRY(world->drain(deadline));
      done += some;
    }
    return secondsSince(begin) / calls;
  }

private:
  static constexpr int mostCalls = 64;

  /// All buffers, filled with ones, in one arena.
  Status reserve(Device &device, uint64_t workspaceBytes) {
    std::vector<LibraryOperand> operands = operandsOf(shape);
    std::vector<uint64_t> elements = elementsOf(shape), places;
    uint64_t bytes = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      places.push_back(bytes);
      bytes += (elements[i] * sizeOf(operands[i].dtype) + 63) / 64 * 64;
    }
    LLMC_TRY_ASSIGN(Arena arena,
                    device.reserve(bytes + workspaceBytes, MemoryKind::device));
    for (uint64_t place : places) {
      buffers.push_back(arena.base + place);
    }
    workspace = arena.base + bytes;
    LLMC_TRY_ASSIGN(Stream * filler, device.stream({"fill", 0, 1, 0}));
    box.bytes = bytes;
    static const Origin origin{"measured", "", 0};
    // A byte of each element: small numbers of any type, and none of them a
    // denormal.
    device.fill(*filler, arena.base, 0x3c, 1, box, origin);
    return world->drain(deadline);
  }

  const Backend &backend;
  const ContractionShape &shape;
  int threads;
  CopyBox box; ///< Lives as long as the world.
  std::unique_ptr<World> world;
  Stream *stream = nullptr;
  std::vector<LibraryForm> prepared;
  std::vector<const LibraryOp *> ops;
  std::vector<void *> buffers;
  void *workspace = nullptr;
};

} // namespace

static Result<std::vector<MeasuredForm>>
measure(const Backend &backend, const ContractionShape &shape, int threads,
        const std::vector<LibraryForm> &all) {
  Measurement measurement(backend, shape, threads);
  LLMC_TRY(measurement.prepare(all));
  const std::vector<LibraryForm> &forms = measurement.forms();
  std::vector<MeasuredForm> measured;
  std::vector<int> calls;
  for (size_t i = 0; i < forms.size(); ++i) {
    LLMC_TRY_ASSIGN(double first, measurement.run(i, 1));
    LLMC_TRY_ASSIGN(double second, measurement.run(i, 1));
    measured.push_back({forms[i], std::min(first, second)});
    calls.push_back(static_cast<int>(
        std::clamp(secondsOfRound / measured.back().seconds, 1.0, 1000.0)));
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < forms.size(); ++i) {
      LLMC_TRY_ASSIGN(double seconds, measurement.run(i, calls[i]));
      // The first calls fill the caches, and do not count.
      measured[i].seconds =
          round ? std::min(measured[i].seconds, seconds) : seconds;
    }
  }
  return measured;
}

Result<std::vector<MeasuredForm>>
measureForms(const Backend &backend, const LibraryDescriptor &descriptor,
             int threads) {
  std::vector<LibraryForm> forms =
      backend.libraryForms({"measured", descriptor, threads, 0});
  const auto *contraction = std::get_if<ContractionShape>(&descriptor);
  if (forms.size() < 2 || !contraction) {
    return std::vector<MeasuredForm>{{forms.at(0), 0}};
  }
  return measure(backend, *contraction, threads, forms);
}

const MeasuredForm &chooseForm(const std::vector<MeasuredForm> &measured) {
  auto least = std::min_element(
      measured.begin(), measured.end(),
      [](const auto &a, const auto &b) { return a.seconds < b.seconds; });
  bool isFaster = least->seconds < formGain * measured.front().seconds;
  return isFaster ? *least : measured.front();
}

} // namespace llmc::rt
