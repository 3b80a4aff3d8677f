//===- RemoteGroup.cpp - Collectives between processes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both ends of a message find it by the same loops: buffers, then senders in
// rank order, then receivers in rank order.
// Tested by test/Runtime/Comm with several processes.
//
//===----------------------------------------------------------------------===//

#include "RemoteGroup.h"

#include "Pool.h"
#include "RaggedCollective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

/// Up to here an all-reduce gathers whole terms: one message instead of two.
constexpr uint64_t mostGatheredBytes = 1024;
constexpr uint64_t mostSignatureBytes = 1 << 20;

RemoteGroup::RemoteGroup(Pool &pool, Group &group, const Owners &owners)
    : pool(pool), group(group), owners(owners),
      lane(hostLane + 1 + 3 * group.number) {
  for (int rank = 0; rank < group.size(); ++rank) {
    ranks[ownerOf(rank)].push_back(rank);
  }
  for (auto &[process, own] : ranks) {
    if (process != owners.transport->process()) {
      processes.push_back(process);
    }
  }
  auto make = [&](auto run, auto finish) {
    return std::make_unique<Lane>(this->pool, std::move(run),
                                  std::move(finish));
  };
  collectives = make([this] { return runCollective(); },
                     [this] { this->pool.finishCollective(this->group); });
  for (int sender = 0; sender < 2 && group.size() == 2; ++sender) {
    transfers[sender] =
        make([this, sender] { return runTransfer(sender); },
             [this, sender] {
               this->pool.finishTransfer(this->group.channel(sender));
             });
  }
}

RemoteGroup::~RemoteGroup() = default;

char *RemoteGroup::take(int64_t bytes) {
  if (numTaken == staging.size()) {
    staging.emplace_back();
  }
  std::vector<char> &space = staging[numTaken++];
  if (space.size() < static_cast<size_t>(bytes)) {
    space.resize(static_cast<size_t>(bytes));
  }
  return space.data();
}

ByteRows RemoteGroup::inputFor(const Collective &c, size_t buffer, int from,
                               int to) const {
  char *base = arrived[buffer * group.members.size() + from];
  ByteRows rows = cpu::inputFor(c, buffer, base, 1, 0);
  auto at = std::find(group.local.begin(), group.local.end(), to);
  bool isPart = traitsOf(c.kind).splitsInput;
  rows.data +=
      isPart ? (at - group.local.begin()) * rows.rows * rows.length : 0;
  return rows;
}

/// Rows that do not lie densely travel through staging.
void RemoteGroup::send(int process, const ByteRows &rows) {
  const int64_t bytes = rows.rows * rows.length;
  char *dense = rows.isDense() ? rows.data : take(bytes);
  if (!rows.isDense()) {
    for (int64_t row = 0; row < rows.rows; ++row) {
      std::memcpy(dense + row * rows.length, rows.data + row * rows.step,
                  static_cast<size_t>(rows.length));
    }
  }
  sends.push_back({process, dense, static_cast<uint64_t>(bytes)});
}

void RemoteGroup::receive(int process, char *data, int64_t bytes) {
  receives.push_back({process, data, static_cast<uint64_t>(bytes)});
}

/// Sends and receives what was listed since the last time.
Status RemoteGroup::exchange() {
  Status status = owners.transport->exchange(lane, sends, receives);
  sends.clear();
  receives.clear();
  return status;
}

char *RemoteGroup::word(int rank, size_t index) const {
  return reinterpret_cast<char *>(group.standing[rank]->frontWords()[index]);
}

/// Whether the input of `from` goes to `to` where inputs are not split.
static bool wants(const Collective &c, int from, int to) {
  switch (traitsOf(c.kind).peer) {
  case CollectivePeer::none:
    return true;
  case CollectivePeer::root:
    return traitsOf(c.kind).reduces ? to == c.root : from == c.root;
  case CollectivePeer::source:
    return c.sources[static_cast<size_t>(to)] == from;
  }
  return true;
}

/// Each part to its member; what goes whole once to each process.
void RemoteGroup::sendInput(const Collective &c, size_t buffer, int from) {
  const bool splits = traitsOf(c.kind).splitsInput;
  for (int process : processes) {
    bool sent = false;
    for (int to = 0; to < group.size(); ++to) {
      if (ownerOf(to) == process && (splits || (!sent && wants(c, from, to)))) {
        send(process,
             cpu::inputFor(c, buffer, word(from, buffer), group.size(), to));
        sent = true;
      }
    }
  }
}

void RemoteGroup::receiveInput(const Collective &c, size_t buffer, int from) {
  const bool splits = traitsOf(c.kind).splitsInput;
  const ByteRows rows = cpu::inputFor(c, buffer, nullptr, 1, 0);
  const int64_t bytes = rows.rows * rows.length;
  auto parts = static_cast<int64_t>(group.local.size());
  if (!splits) {
    parts = std::any_of(group.local.begin(), group.local.end(),
                        [&](int to) { return wants(c, from, to); });
  }
  char *data = take(parts * bytes);
  arrived[buffer * group.members.size() + from] = data;
  for (int64_t part = 0; part < parts; ++part) {
    receive(ownerOf(from), data + part * bytes, bytes);
  }
}

Status RemoteGroup::shareInputs(const Collective &c) {
  arrived.assign(c.buffers.size() * group.members.size(), nullptr);
  for (size_t buffer = 0; buffer < c.buffers.size(); ++buffer) {
    for (int from = 0; from < group.size(); ++from) {
      isLocal(from) ? sendInput(c, buffer, from)
                    : receiveInput(c, buffer, from);
    }
  }
  return exchange();
}

/// Of a collective that takes counts those of all members, whole.
Status RemoteGroup::shareCounts(const Collective &c) {
  constexpr int64_t numLists = 4;
  const int64_t bytes = static_cast<int64_t>(c.buffers[0].outer) * numLists *
                        static_cast<int64_t>(c.rows.slices) * sizeof(int64_t);
  const size_t counts = c.buffers.size();
  arrived.assign((counts + 1) * group.members.size(), nullptr);
  for (int from = 0; from < group.size(); ++from) {
    if (isLocal(from)) {
      for (int process : processes) {
        send(process, {word(from, counts), 1, bytes, bytes});
      }
      continue;
    }
    char *&place = arrived[counts * group.members.size() + from];
    place = take(bytes);
    receive(ownerOf(from), place, bytes);
  }
  return exchange();
}

/// The rows that counts name, each where it lies in the sender's input.
Status RemoteGroup::shareRows(const Collective &c) {
  const int64_t bytes =
      static_cast<int64_t>(c.buffers[0].outer * c.rows.in * c.rows.elements) *
      sizeOf(c.type);
  for (int from = 0; from < group.size(); ++from) {
    if (!isLocal(from)) {
      arrived[from] = take(bytes);
    }
  }
  for (const RowRun &run : rowRuns(membersOf(group))) {
    if (isLocal(run.from) && !isLocal(run.to)) {
      send(ownerOf(run.to),
           {word(run.from, 0) + run.offset, 1, run.bytes, run.bytes});
    } else if (!isLocal(run.from) && isLocal(run.to)) {
      receive(ownerOf(run.from), arrived[run.from] + run.offset, run.bytes);
    }
  }
  return exchange();
}

/// The elements that member `rank` of n combines.
static Range partOf(const CollectiveBuffer &shape, int rank, int n) {
  return ticketRange(static_cast<int64_t>(shape.outer * shape.count), rank, n);
}

/// The terms of each member's part go to it, and are combined there; `results`
/// says where, for local members.
Status RemoteGroup::combineParts(const Collective &c, size_t buffer,
                                 std::vector<char *> &results) {
  const int n = group.size();
  const int64_t bytes = sizeOf(c.type);
  std::vector<char *> terms(static_cast<size_t>(n) * n);
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      Range part = partOf(c.buffers[buffer], to, n);
      const int64_t size = (part.end - part.begin) * bytes;
      char *&term = terms[to * n + from];
      if (isLocal(from)) {
        term = word(from, buffer) + part.begin * bytes;
        if (!isLocal(to)) {
          send(ownerOf(to), {term, 1, size, size});
        }
      } else if (isLocal(to)) {
        term = take(size);
        receive(ownerOf(from), term, size);
      }
    }
  }
  LLMC_TRY(exchange());
  for (int to : group.local) {
    Range part = partOf(c.buffers[buffer], to, n);
    bool isOutput =
        traitsOf(c.kind).peer == CollectivePeer::none || to == c.root;
    results[to] = isOutput
                      ? word(to, c.buffers.size() + buffer) + part.begin * bytes
                      : take((part.end - part.begin) * bytes);
    reduceElements(c, &terms[to * n], n, &results[to], 1, 0,
                   part.end - part.begin);
  }
  return Status::success();
}

/// The combined parts go to all members, or to the root.
Status RemoteGroup::spreadParts(const Collective &c, size_t buffer,
                                std::vector<char *> &results) {
  const int n = group.size();
  std::vector<int> takers;
  for (int to : group.local) {
    if (wants(c, 0, to)) {
      takers.push_back(to);
    }
  }
  auto place = [&](int to, int part) {
    return word(to, c.buffers.size() + buffer) +
           partOf(c.buffers[buffer], part, n).begin * sizeOf(c.type);
  };
  auto sizeOfPart = [&](int part) {
    Range range = partOf(c.buffers[buffer], part, n);
    return (range.end - range.begin) * int64_t(sizeOf(c.type));
  };
  for (int from = 0; from < n; ++from) {
    const int64_t size = sizeOfPart(from);
    if (!isLocal(from) && !takers.empty()) {
      results[from] = place(takers[0], from);
      receive(ownerOf(from), results[from], size);
    }
    for (int process : processes) {
      bool wanted =
          std::any_of(ranksOf(process).begin(), ranksOf(process).end(),
                      [&](int to) { return wants(c, 0, to); });
      if (isLocal(from) && wanted) {
        send(process, {results[from], 1, size, size});
      }
    }
  }
  LLMC_TRY(exchange());
  for (int to : takers) {
    for (int from = 0; from < n; ++from) {
      if (char *out = place(to, from); out != results[from]) {
        std::memcpy(out, results[from], static_cast<size_t>(sizeOfPart(from)));
      }
    }
  }
  return Status::success();
}

/// The first time that members meet at a collective they show what they bring.
Status RemoteGroup::compare(const Collective &c) {
  if (!compared.insert(&c).second) {
    return Status::success();
  }
  std::string own = signature(c);
  std::vector<uint64_t> sizes(processes.size(), own.size());
  std::vector<std::string> texts(processes.size());
  uint64_t size = own.size();
  for (size_t i = 0; i < processes.size(); ++i) {
    sends.push_back({processes[i], &size, sizeof(size)});
    receives.push_back({processes[i], &sizes[i], sizeof(size)});
  }
  LLMC_TRY(exchange());
  for (size_t i = 0; i < processes.size(); ++i) {
    texts[i].resize(std::min(sizes[i], mostSignatureBytes));
    sends.push_back({processes[i], own.data(), own.size()});
    receives.push_back({processes[i], texts[i].data(), texts[i].size()});
  }
  LLMC_TRY(exchange());
  for (size_t i = 0; i < processes.size(); ++i) {
    if (texts[i] != own) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected {} on device {} as on device {}, got {}", own,
                      group.members[ranksOf(processes[i]).front()],
                      group.members[group.local.front()], texts[i]));
    }
  }
  return Status::success();
}

Status RemoteGroup::runCollective() {
  const Collective &c = *entryOf(group, group.local.front()).collective;
  LLMC_TRY(compare(c));
  numTaken = 0;
  const bool isWhole = traitsOf(c.kind).reduces && !traitsOf(c.kind).usesDim();
  if (isWhole && payloadBytes(c, group.size()) > mostGatheredBytes) {
    std::vector<char *> results(group.members.size());
    for (size_t buffer = 0; buffer < c.buffers.size(); ++buffer) {
      LLMC_TRY(combineParts(c, buffer, results));
      LLMC_TRY(spreadParts(c, buffer, results));
    }
    return Status::success();
  }
  if (traitsOf(c.kind).takesCounts) {
    LLMC_TRY(shareCounts(c));
    LLMC_TRY(checkCounts(group));
    LLMC_TRY(shareRows(c));
  } else {
    LLMC_TRY(shareInputs(c));
  }
  cpu::runCollective(group, 0);
  return Status::success();
}

Status RemoteGroup::runTransfer(int sender) {
  const Channel &channel = group.channel(sender);
  const ChannelSide &side = isLocal(sender) ? channel.send : channel.receive;
  std::vector<PeerMessage> one = {
      {ownerOf(isLocal(sender) ? 1 - sender : sender), side.buffer,
       side.bytes}};
  const std::vector<PeerMessage> none;
  return owners.transport->exchange(lane + 1 + static_cast<uint32_t>(sender),
                                    isLocal(sender) ? one : none,
                                    isLocal(sender) ? none : one);
}

} // namespace llmc::rt::cpu
