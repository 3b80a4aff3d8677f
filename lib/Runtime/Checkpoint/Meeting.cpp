//===- Meeting.cpp - Processes that write or read one checkpoint ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/Meeting.h"

#include <fmt/format.h>

namespace llmc::rt {

Result<std::vector<std::string>>
Meeting::gather(const std::string &bytes) const {
  if (!transport) {
    return std::vector<std::string>{bytes};
  }
  return gatherBytes(*transport, bytes);
}

/// "" for success, else the exit code as a character and what to print.
static std::string pack(const Status &status) {
  if (status.ok()) {
    return "";
  }
  return static_cast<char>(exitCode(status.kind())) + describe(status.error());
}

static Status unpack(const std::string &text, const std::string &who) {
  return text.empty()
             ? Status::success()
             : makeError(static_cast<ErrorKind>(text[0]), who + text.substr(1));
}

Status Meeting::agree(const Status &own) const {
  if (!transport || own.kind() == ErrorKind::peerLost) {
    return own;
  }
  LLMC_TRY_ASSIGN(std::vector<std::string> all, gather(pack(own)));
  LLMC_TRY(own);
  for (size_t process = 0; process < all.size(); ++process) {
    LLMC_TRY(unpack(all[process], fmt::format("process {}: ", process)));
  }
  return Status::success();
}

Result<std::string> Meeting::fromFirst(const Result<std::string> &found) const {
  LLMC_TRY(agree(speaks() ? found.status() : Status::success()));
  LLMC_TRY_ASSIGN(std::vector<std::string> all,
                  gather(speaks() ? *found : std::string()));
  return all[0];
}

} // namespace llmc::rt
