//===- Peers.cpp - What processes tell each other -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/ProcessesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Peers.h"

#include <fmt/format.h>

namespace llmc::rt::exec {

namespace {
/// What stands before the elements of a piece.
struct PieceHeader {
  int64_t global = 0, length = 0;
};
} // namespace

void Pieces::add(int64_t global, const std::byte *values, int64_t length) {
  PieceHeader header{global, length};
  text.append(reinterpret_cast<const char *>(&header), sizeof(header));
  text.append(reinterpret_cast<const char *>(values),
              static_cast<size_t>(length * elementBytes));
}

static Status malformed(int process) {
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected pieces of a tensor of this plan from "
                               "process {}, got something else",
                               process));
}

/// Writes the pieces of one process.
static Status place(HostTensor &whole, const std::string &text, int process) {
  const int64_t bytes = sizeOf(whole.dtype), elements = whole.elements();
  for (size_t at = 0; at < text.size();) {
    PieceHeader header;
    if (text.size() - at < sizeof(header)) {
      return malformed(process);
    }
    std::memcpy(&header, text.data() + at, sizeof(header));
    at += sizeof(header);
    bool fits = header.global >= 0 && header.length >= 0 &&
                header.length <= elements &&
                header.global <= elements - header.length &&
                static_cast<size_t>(header.length * bytes) <= text.size() - at;
    if (!fits) {
      return malformed(process);
    }
    auto size = static_cast<size_t>(header.length * bytes);
    if (size) {
      std::memcpy(whole.bytes.data() + header.global * bytes, text.data() + at,
                  size);
    }
    at += size;
  }
  return Status::success();
}

Status Peers::complete(HostTensor &whole, const Pieces &own) const {
  if (!transport) {
    return Status::success();
  }
  LLMC_TRY_ASSIGN(std::vector<std::string> all,
                  gatherBytes(*transport, own.text));
  for (int process = size(); process-- > 0;) {
    LLMC_TRY(place(whole, all[process], process));
  }
  return Status::success();
}

} // namespace llmc::rt::exec
