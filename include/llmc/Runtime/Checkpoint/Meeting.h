//===- Meeting.h - Processes that write or read one checkpoint --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every process makes the same calls in the same order. Where this is the only
// one, a meeting is over at once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_MEETING_H
#define LLMC_RUNTIME_CHECKPOINT_MEETING_H

#include "llmc/Runtime/Comm/Transport.h"

#include <memory>

namespace llmc::rt {

class Meeting {
public:
  /// Null: this is the only process.
  explicit Meeting(std::shared_ptr<Transport> transport)
      : transport(std::move(transport)) {}

  int own() const { return transport ? transport->process() : 0; }
  int size() const { return transport ? transport->size() : 1; }
  bool speaks() const { return own() == 0; }

  /// What each process gives, by process.
  Result<std::vector<std::string>> gather(const std::string &bytes) const;
  /// Where one fails all fail, with the error of the first that did.
  Status agree(const Status &own) const;
  /// What process 0 found, for all.
  Result<std::string> fromFirst(const Result<std::string> &found) const;

private:
  std::shared_ptr<Transport> transport;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_MEETING_H
