//===- Group.cpp - What members of a group bring --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Comm/GroupConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaCommunicator.h"

#include "CudaDevice.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cuda {

Group::Group(std::vector<int> members, std::vector<int> local)
    : members(std::move(members)), local(std::move(local)),
      issued(this->members.size()) {}

bool Group::isLocal(int rank) const {
  return std::count(local.begin(), local.end(), rank) > 0;
}

Status Group::meet(const Collective &collective, int rank,
                   const CudaStream &stream, const Origin &origin) {
  uint64_t sequence = issued[static_cast<size_t>(rank)]++;
  if (sequence >= met.size()) {
    met.push_back({&collective, rank, &stream, &origin});
    return Status::success();
  }
  const Met &first = met[sequence];
  if (*first.collective == collective) {
    return Status::success();
  }
  return makeError(
      ErrorKind::mismatch,
      fmt::format("expected {} on device {} as on device {}, got {}",
                  signature(*first.collective), members[rank],
                  members[first.rank], signature(collective)));
}

void Group::transfer(bool isSend, int rank, uint64_t bytes,
                     const CudaStream &stream, const Origin &origin) {
  if (isSend) {
    sends[rank].push_back({bytes, &stream, &origin});
  } else {
    receives[1 - rank].push_back({bytes, &stream, &origin});
  }
}

std::string Group::describe(int rank, const CudaStream &stream,
                            const Origin &origin) const {
  std::string place =
      origin.location.empty()
          ? fmt::format("'{}'", origin.name)
          : fmt::format("'{}' ({})", origin.name, origin.location);
  return fmt::format("deadlock: device {} stream '{}' at {} waits for",
                     members[rank], stream.name, place);
}

Status Group::compareTransfers(int sender) {
  const std::vector<Moved> &sent = sends[sender];
  const std::vector<Moved> &taken = receives[sender];
  int receiver = 1 - sender;
  for (size_t i = 0; i < std::max(sent.size(), taken.size()); ++i) {
    if (i >= sent.size() || i >= taken.size()) {
      bool hasSend = i < sent.size();
      const Moved &one = hasSend ? sent[i] : taken[i];
      return makeError(ErrorKind::mismatch,
                       fmt::format("{} a {} device {} ({} bytes, number {})",
                                   describe(hasSend ? sender : receiver,
                                            *one.stream, *one.origin),
                                   hasSend ? "receive on" : "send from",
                                   members[hasSend ? receiver : sender],
                                   one.bytes, i));
    }
    if (sent[i].bytes != taken[i].bytes) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected {} bytes in receive '{}' of device {}, got {} "
                      "from send '{}' of device {}",
                      taken[i].bytes, taken[i].origin->name, members[receiver],
                      sent[i].bytes, sent[i].origin->name, members[sender]));
    }
  }
  return Status::success();
}

Status Group::repeat(std::pair<uint64_t, uint64_t> at, int rank, Trips trips,
                     const Origin &origin) {
  std::lock_guard<std::mutex> lock(repeating);
  // Units of which a member may still be in one.
  while (repeats.size() > 1 &&
         repeats.begin()->first.first + numEnds < at.first) {
    repeats.erase(repeats.begin());
  }
  std::vector<Trips> &all = repeats[at];
  all.resize(members.size());
  all[static_cast<size_t>(rank)] = trips;
  for (int other : local) {
    const Trips &theirs = all[static_cast<size_t>(other)];
    if ((theirs.hasEnded && trips.count > theirs.count) ||
        (trips.hasEnded && theirs.count > trips.count)) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected devices {} and {} to repeat '{}' equally "
                      "often, got a flag that holds on one of them alone",
                      members[std::min(rank, other)],
                      members[std::max(rank, other)], origin.name));
    }
  }
  return Status::success();
}

Status Group::settle() {
  Status status;
  std::string missing;
  for (int rank : local) {
    if (issued[static_cast<size_t>(rank)] < met.size()) {
      missing +=
          fmt::format("{}{}", missing.empty() ? "" : ", ", members[rank]);
    }
  }
  if (!missing.empty()) {
    uint64_t least = met.size();
    for (int rank : local) {
      least = std::min(least, issued[static_cast<size_t>(rank)]);
    }
    const Met &first = met[least];
    status = makeError(
        ErrorKind::mismatch,
        fmt::format("{} devices {} in {} number {}",
                    describe(first.rank, *first.stream, *first.origin), missing,
                    nameOf(first.collective->kind), least));
  }
  for (int sender = 0; sender < 2 && members.size() == 2 && status.ok();
       ++sender) {
    if (isLocal(0) && isLocal(1)) {
      status = compareTransfers(sender);
    }
  }
  met.clear();
  std::fill(issued.begin(), issued.end(), 0);
  for (auto *lists : {&sends, &receives}) {
    for (std::vector<Moved> &list : *lists) {
      list.clear();
    }
  }
  return status;
}

} // namespace llmc::rt::cuda
