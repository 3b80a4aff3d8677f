//===- Status.cpp - Errors as values, one kind for each exit code ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/StatusTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Base/Json.h"

#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>

namespace llmc::rt {

std::string_view kindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::ok:
    return "ok";
  case ErrorKind::diagnosed:
    return "diagnosed";
  case ErrorKind::usage:
    return "usage";
  case ErrorKind::malformed:
    return "malformed";
  case ErrorKind::infeasible:
    return "infeasible";
  case ErrorKind::unsupported:
    return "unsupported";
  case ErrorKind::peerLost:
    return "peer-lost";
  case ErrorKind::timeout:
    return "timeout";
  case ErrorKind::outOfMemory:
    return "out-of-memory";
  case ErrorKind::numeric:
    return "numeric";
  case ErrorKind::noCheckpoint:
    return "no-checkpoint";
  case ErrorKind::mismatch:
    return "mismatch";
  case ErrorKind::rerunElsewhere:
    return "rerun-elsewhere";
  case ErrorKind::internal:
    return "internal";
  }
  return "internal";
}

const std::string &Status::message() const {
  static const std::string none;
  return error_ ? error_->message : none;
}

Status Status::at(std::string_view file) const {
  if (ok() || !error_->file.empty()) {
    return *this;
  }
  Error error = *error_;
  error.file = file;
  return error;
}

Status Status::at(std::string_view file, uint64_t offset) const {
  if (ok() || !error_->file.empty()) {
    return *this;
  }
  Error error = *error_;
  error.file = file;
  error.offset = offset;
  return error;
}

Status Status::withHint(std::string_view hint) const {
  if (ok()) {
    return *this;
  }
  Error error = *error_;
  error.hint = hint;
  return error;
}

Status Status::inContext(std::string_view what) const {
  if (ok()) {
    return *this;
  }
  Error error = *error_;
  error.message = fmt::format("{}: {}", what, error.message);
  return error;
}

Status makeError(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

std::string describe(const Error &error) {
  std::string text;
  if (!error.file.empty()) {
    text = escape(error.file) + ": ";
  }
  text += escape(error.message, 2000);
  if (error.offset) {
    text += fmt::format(" at byte {}", *error.offset);
  }
  if (!error.hint.empty()) {
    text += fmt::format(" ({})", escape(error.hint, 500));
  }
  return text;
}

std::string describeAsJson(const Error &error) {
  std::string text = fmt::format(
      "{{\"kind\": \"{}\", \"code\": {}, \"message\": {}", kindName(error.kind),
      exitCode(error.kind), quoteAsJson(error.message));
  if (!error.file.empty()) {
    text += ", \"file\": " + quoteAsJson(error.file);
  }
  if (error.offset) {
    text += fmt::format(", \"offset\": {}", *error.offset);
  }
  if (!error.hint.empty()) {
    text += ", \"hint\": " + quoteAsJson(error.hint);
  }
  return text + "}";
}

} // namespace llmc::rt
