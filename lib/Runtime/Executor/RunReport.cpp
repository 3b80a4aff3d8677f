//===- RunReport.cpp - What a run prints beside its steps -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Config/Config.h"
#include "llmc/Runtime/Executor/RunLoop.h"

#include <fmt/format.h>

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
  auto [name, file] = splitSource(text, names);
  return session.useFiles({name, splitPatterns(file), dtype, isEvaluation});
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

} // namespace llmc::rt
