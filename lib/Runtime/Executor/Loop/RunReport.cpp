//===- RunReport.cpp - What a run prints beside its steps -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunReport.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"
#include "llmc/Runtime/Plan/Verify/PlanTimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace llmc::rt {

StepSize stepSize(const plan::Plan &plan, const plan::Entry &entry) {
  StepSize size;
  for (const plan::Input &input : entry.inputs) {
    int64_t elements = 1;
    std::vector<int64_t> shape = input.layout.globalShape();
    for (int64_t extent : shape) {
      elements *= extent;
    }
    bool isArray = input.source >= 0 &&
                   plan.sources[input.source].rule.kind == DataKind::array;
    if (!isFloat(input.dtype) && !isArray) {
      return {elements * entry.numMicrobatches, true};
    }
    if (size.count == 0 && !shape.empty()) {
      size.count = shape[0] * entry.numMicrobatches;
    }
  }
  return size;
}

std::string printBytes(uint64_t bytes) {
  constexpr double kibi = 1024;
  auto count = static_cast<double>(bytes);
  if (count < kibi) {
    return fmt::format("{}B", bytes);
  }
  if (count < kibi * kibi) {
    return fmt::format("{:.2f}KiB", count / kibi);
  }
  if (count < kibi * kibi * kibi) {
    return fmt::format("{:.2f}MiB", count / (kibi * kibi));
  }
  return fmt::format("{:.2f}GiB", count / (kibi * kibi * kibi));
}

std::string printCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

Status useDataFlag(Session &session, const std::string &text,
                   std::optional<DType> dtype, bool isEvaluation) {
  std::vector<std::string> names;
  for (const plan::DataSource &source : session.plan().sources) {
    names.push_back(source.name);
  }
  LLMC_TRY_ASSIGN(auto named, splitSource(text, names));
  return session.useFiles(
      {named.first, splitPatterns(named.second), dtype, isEvaluation});
}

int reportError(std::string_view tool, const Status &status,
                const std::string &errorFile) {
  const Error &error = status.error();
  if (!errorFile.empty()) {
    Status written =
        writeFileAtomically(errorFile, describeAsJson(error) + "\n");
    if (!written.ok()) {
      fmt::print(stderr, "{}: warning: {}\n", tool, describe(written.error()));
    }
  }
  std::fflush(stdout);
  fmt::print(stderr, "{}: error[{}]: {}\n", tool, kindName(error.kind),
             describe(error));
  return exitCode(error.kind);
}

namespace exec {

/// Of the fullest device, with its share of the memory that there is.
std::string memoryText(const Session &session) {
  DeviceMemory fullest;
  for (const DeviceMemory &memory : session.memory()) {
    if (memory.reserved >= fullest.reserved) {
      fullest = memory;
    }
  }
  double given = session.plan().machine.memory;
  double all = given > 0 ? given : static_cast<double>(fullest.there);
  return fmt::format("{}({:.1f}%)", printBytes(fullest.reserved),
                     100 * static_cast<double>(fullest.reserved) / all);
}

/// What a device of the stage communicates in a step, without scalars.
static void printTraffic(const plan::Plan &plan, const std::string &name,
                         int64_t stage, std::FILE *out) {
  for (const plan::Entry &entry : plan.entries) {
    if (entry.name != name) {
      continue;
    }
    for (const plan::Traffic &row : plan::trafficOf(plan, entry, stage)) {
      if (!row.isScalar) {
        fmt::print(out, "  {} x {} over {}, {} a step{}\n", row.count, row.kind,
                   row.axes, printBytes(std::max(row.bytesIn, row.bytesOut)),
                   row.isOpen ? ", with one trip of loops that the run ends"
                              : "");
      }
    }
  }
}

void printPrediction(const plan::Plan &plan, const std::string &entry,
                     std::FILE *out) {
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    plan::MemoryReport report = plan::memoryOf(plan, stage);
    std::string parts;
    int64_t rest = report.total;
    for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
      rest -= report.bytes[kind];
      if (report.bytes[kind]) {
        parts +=
            fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                        nameOf(static_cast<plan::FrameKind>(kind)),
                        printBytes(static_cast<uint64_t>(report.bytes[kind])));
      }
    }
    if (rest > 0) {
      parts += fmt::format(", alignment {}",
                           printBytes(static_cast<uint64_t>(rest)));
    }
    fmt::print(out, "memory of stage {}: {} on each device ({})\n", stage,
               printBytes(static_cast<uint64_t>(report.total)), parts);
    printTraffic(plan, entry, stage, out);
  }
}

/// Of a step; predicted where the plan says what the machine can do.
static void printTime(const plan::Plan &plan, const plan::Entry &entry,
                      const StepTimes &times, std::FILE *out) {
  constexpr double milli = 1e3;
  if (times.size() == 0) {
    return;
  }
  std::string predicted;
  if (plan::isMachineKnown(plan)) {
    Result<plan::PlannedStep> step = plan::planStep(plan, entry);
    predicted =
        step ? fmt::format("predicted {:.3f} ms, ", milli * step->seconds) : "";
  }
  fmt::print(out, "step time: {}measured {:.3f} ms, the {} of {} {}\n",
             predicted, milli * times.ofRun().seconds,
             times.isMedian() ? "median" : "mean", times.size(),
             times.size() == 1 ? "step" : "steps");
}

void printResult(const Session &session, const plan::Entry &entry,
                 const StepTimes &times, std::FILE *out) {
  uint64_t predicted = 0, reserved = 0;
  for (const DeviceMemory &memory : session.memory()) {
    predicted += memory.predicted;
    reserved += memory.reserved;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(out,
             "memory: predicted {} B, reserved {} B on {} devices; peak of "
             "the process {}\n",
             printCount(predicted), printCount(reserved),
             session.memory().size(),
             printBytes(static_cast<uint64_t>(usage.ru_maxrss) * 1024));
  printTime(session.plan(), entry, times, out);
  if (std::string note = session.note(); !note.empty()) {
    fmt::print(out, "note: {}\n", note);
  }
}

Status checkPlaces(const RunOptions &options) {
  std::error_code code;
  if (!options.dumpFolder.empty()) {
    std::filesystem::create_directories(options.dumpFolder, code);
  }
  if (code) {
    return makeError(ErrorKind::usage,
                     "cannot make the folder for values: " + code.message())
        .at(options.dumpFolder);
  }
  std::string folder =
      std::filesystem::path(options.traceFile).parent_path().string();
  for (const auto &[place, named] :
       {std::pair(options.dumpFolder, options.dumpFolder),
        std::pair(folder.empty() ? "." : folder, options.traceFile)}) {
    if (!named.empty() && ::access(place.c_str(), W_OK | X_OK) != 0) {
      return makeError(ErrorKind::usage,
                       fmt::format("expected a folder to write to, got one "
                                   "for which: {}",
                                   std::strerror(errno)))
          .at(named);
    }
  }
  return Status::success();
}

} // namespace exec

} // namespace llmc::rt
