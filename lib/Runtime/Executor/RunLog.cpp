//===- RunLog.cpp - What a run does, as JSON lines ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunLog.h"

#include "llmc/Runtime/Base/Json.h"
#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

#include <cmath>

namespace llmc::rt::exec {

static std::string jsonNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

Status RunLog::open(const std::string &name, bool goesOn) {
  path = name;
  file.reset(std::fopen(path.c_str(), goesOn ? "a" : "w"));
  return file ? Status::success()
              : makeError(ErrorKind::usage, "cannot open the log for writing")
                    .at(path);
}

Status RunLog::write(const Session &session, const std::string &entry,
                     const StepSize &size, const StepFacts &facts) {
  if (!file) {
    return Status::success();
  }
  std::string line = fmt::format("{{\"entry\": {}, \"step\": {}",
                                 quoteAsJson(entry), facts.step);
  // The model's own metrics may have any name; ours stand beside the step.
  std::string users;
  for (const NamedValue &metric : session.metrics()) {
    bool ours = isOurs(metric.name);
    (ours ? line : users) += fmt::format(
        "{}{}: {}", ours || !users.empty() ? ", " : "",
        quoteAsJson(unescapeName(metric.name)), jsonNumber(metric.value));
  }
  if (!users.empty()) {
    line += fmt::format(", \"metrics\": {{{}}}", users);
  }
  line += fmt::format(", \"seconds\": {}, \"data_seconds\": {}, \"{}\": {}}}\n",
                      jsonNumber(facts.seconds), jsonNumber(facts.dataSeconds),
                      size.isTokens ? "tps" : "sps", jsonNumber(facts.rate));
  if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() ||
      std::fflush(file.get()) != 0) {
    return makeError(ErrorKind::malformed, "cannot write the log").at(path);
  }
  return Status::success();
}

} // namespace llmc::rt::exec
