//===- Transport.cpp - Messages between processes -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Comm/TransportTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Transport.h"

namespace llmc::rt {

/// Everybody's sizes go first, then what they say.
Result<std::vector<std::string>> gatherBytes(Transport &transport,
                                             const std::string &bytes) {
  auto count = static_cast<size_t>(transport.size());
  std::vector<uint64_t> sizes(count, bytes.size());
  std::vector<std::string> all(count, bytes);
  std::string own = bytes;
  std::vector<PeerMessage> sends, receives;
  auto others = [&](auto visit) {
    sends.clear();
    receives.clear();
    for (int process = 0; process < transport.size(); ++process) {
      if (process != transport.process()) {
        visit(process);
      }
    }
    return transport.exchange(hostLane, sends, receives);
  };
  LLMC_TRY(others([&](int process) {
    sends.push_back({process, &sizes[transport.process()], sizeof(uint64_t)});
    receives.push_back({process, &sizes[process], sizeof(uint64_t)});
  }));
  LLMC_TRY(others([&](int process) {
    all[process].resize(sizes[process]);
    sends.push_back({process, own.data(), own.size()});
    receives.push_back({process, all[process].data(), sizes[process]});
  }));
  return all;
}

} // namespace llmc::rt
