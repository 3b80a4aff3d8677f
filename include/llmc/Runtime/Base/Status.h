//===- Status.h - Errors as values, one kind for each exit code -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function that can fail returns `Status` or `Result<T>`. The kind of an
// error is the exit code of the tool that prints it, so that a scheduler can
// tell a full memory from a lost peer without reading logs.
//
//   Result<Plan> plan = readPlan(path);
//   if (!plan) return plan.status();
//   LLMC_TRY(verifyPlan(*plan, environment));
//
// Test: test/Runtime/Base/StatusTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_STATUS_H
#define LLMC_RUNTIME_BASE_STATUS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace llmc::rt {

/// The value is the exit code (stable and documented).
enum class ErrorKind : int {
  ok = 0,
  diagnosed = 1,
  usage = 2,
  malformed = 3,
  infeasible = 4,
  unsupported = 5,
  peerLost = 10,
  timeout = 11,
  outOfMemory = 12,
  numeric = 13,
  noCheckpoint = 14,
  mismatch = 15,
  rerunElsewhere = 16,
  internal = 70,
};

/// "malformed", "peer-lost", ...: the word in `<tool>: error[<kind>]: <cause>`.
std::string_view kindName(ErrorKind kind);

inline int exitCode(ErrorKind kind) { return static_cast<int>(kind); }

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  /// The file at fault and the byte in it, where there is one.
  std::string file;
  std::optional<uint64_t> offset;
  /// What the user can do about it.
  std::string hint;
};

/// Success, or an error. Copies are cheap.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : error_(std::make_shared<Error>(std::move(error))) {}
  static Status success() { return {}; }

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  ErrorKind kind() const { return error_ ? error_->kind : ErrorKind::ok; }
  /// Assumes `!ok()`.
  const Error &error() const { return *error_; }
  /// "" on success.
  const std::string &message() const;

  /// The same error with a place or a hint; no effect on success. A place that
  /// is already known is kept.
  Status at(std::string_view file) const;
  Status at(std::string_view file, uint64_t offset) const;
  Status withHint(std::string_view hint) const;
  /// Puts `what` and ": " before the message.
  Status inContext(std::string_view what) const;

private:
  std::shared_ptr<const Error> error_;
};

Status makeError(ErrorKind kind, std::string message);

/// `<file>: <message> at byte <offset> (<hint>)`, in one line; control
/// characters escaped, very long messages shortened.
std::string describe(const Error &error);

/// {"kind": ..., "code": ..., "message": ..., "file": ..., ...}
std::string describeAsJson(const Error &error);

/// A value, or the error that kept it from being made.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  /// Assumes that `status` is an error.
  Result(Status status) : status_(std::move(status)) {}
  Result(Error error) : status_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return status_; }
  const Error &error() const { return status_.error(); }
  ErrorKind kind() const { return status_.kind(); }
  const std::string &message() const { return status_.message(); }

  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return std::move(*value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

/// Returns from the enclosing function when `expression` is an error.
#define LLMC_TRY(expression)                                                   \
  do {                                                                         \
    if (::llmc::rt::Status llmcStatus = (expression); !llmcStatus.ok()) {      \
      return llmcStatus;                                                       \
    }                                                                          \
  } while (false)

#define LLMC_CONCAT_INNER(a, b) a##b
#define LLMC_CONCAT(a, b) LLMC_CONCAT_INNER(a, b)

/// `LLMC_TRY_ASSIGN(auto x, compute())`: declares and assigns, or returns.
#define LLMC_TRY_ASSIGN(declaration, expression)                               \
  auto LLMC_CONCAT(llmcResult, __LINE__) = (expression);                       \
  if (!LLMC_CONCAT(llmcResult, __LINE__).ok()) {                               \
    return LLMC_CONCAT(llmcResult, __LINE__).status();                         \
  }                                                                            \
  declaration = *std::move(LLMC_CONCAT(llmcResult, __LINE__))

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_STATUS_H
