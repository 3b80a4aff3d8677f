//===- Log.cpp - Lines on stderr, filtered by level -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <unistd.h>

namespace llmc::rt {

static LogLevel levelFromEnvironment() {
  const char *text = std::getenv("LLMC_LOG");
  std::string_view name = text ? text : "";
  if (name == "error") {
    return LogLevel::error;
  }
  if (name == "info") {
    return LogLevel::info;
  }
  if (name == "debug") {
    return LogLevel::debug;
  }
  return LogLevel::warning;
}

static std::atomic<int> &currentLevel() {
  static std::atomic<int> level(static_cast<int>(levelFromEnvironment()));
  return level;
}

void setLogLevel(LogLevel level) {
  currentLevel().store(static_cast<int>(level));
}

bool isLogged(LogLevel level) {
  return static_cast<int>(level) <= currentLevel().load();
}

std::string escape(std::string_view text, size_t limit) {
  std::string out;
  for (unsigned char c : text) {
    if (out.size() >= limit) {
      return out + "...";
    }
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

void log(LogLevel level, std::string_view message) {
  static constexpr const char *names[] = {"error", "warning", "info", "debug"};
  if (!isLogged(level)) {
    return;
  }
  std::string line = fmt::format(
      "llmc: {}: {}\n", names[static_cast<int>(level)], escape(message, 4000));
  // A log that cannot be written must not stop a run.
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace llmc::rt
