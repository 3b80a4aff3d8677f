//===- Log.h - Lines on stderr, filtered by level ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line for each message, written by a single write(), so that lines of
// threads and processes do not mix. The level comes from LLMC_LOG (error,
// warning, info, debug; default warning) or from the tool.
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_LOG_H
#define LLMC_RUNTIME_BASE_LOG_H

#include <string>
#include <string_view>

namespace llmc::rt {

enum class LogLevel : int { error = 0, warning = 1, info = 2, debug = 3 };

void setLogLevel(LogLevel level);
bool isLogged(LogLevel level);
/// Control characters of `message` are escaped.
void log(LogLevel level, std::string_view message);

/// `text` with control characters as \n, \t, \xNN, and cut to `limit` bytes
/// with "..." at its end: for names that come from files.
std::string escape(std::string_view text, size_t limit = 200);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_LOG_H
