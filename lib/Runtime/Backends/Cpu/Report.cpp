//===- Report.cpp - What blocked heads wait for ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains a deadlock or a passed deadline: for each blocked stream the entry
// at its head, its location, and who is missing.
//
//   deadlock: 2 streams are blocked: device 0 stream 'T' at 'reduce' (m.py:88)
//   waits for device 1, which stands at 'gather' ...
//
// Tested by test/Runtime/Backends/Cpu/PoolTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

/// Streams named in full; more are counted.
constexpr size_t mostStreams = 16;

static std::string place(const Origin &origin) {
  return origin.location.empty()
             ? fmt::format("'{}'", origin.name)
             : fmt::format("'{}' ({})", origin.name, origin.location);
}

namespace {
/// What the head of a blocked stream waits for.
struct Reason {
  const CpuStream &stream;

  std::string operator()(const WaitEntry &e) const {
    return fmt::format("event '{}' (record {}, reached {})",
                       e.event->origin.name, e.generation, e.event->reached);
  }
  std::string operator()(const CollectiveEntry &e) const {
    std::string missing;
    for (int rank = 0; rank < e.group->size(); ++rank) {
      if (!e.group->standing[static_cast<size_t>(rank)]) {
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ",
                               e.group->members[static_cast<size_t>(rank)]);
      }
    }
    return fmt::format("devices {} in {} number {}", missing,
                       nameOf(e.collective->kind), e.sequence);
  }
  std::string operator()(const ExchangeEntry &e) const {
    auto *parts = reinterpret_cast<const ExchangePart *>(stream.frontWords());
    std::string text;
    for (uint32_t i = 0; i < e.numParts; ++i) {
      const ExchangePart &part = parts[i];
      if (part.channel->current > part.sequence) {
        continue;
      }
      text += fmt::format("{}a {} device {} ({} bytes, number {})",
                          text.empty() ? "" : " and ",
                          part.send ? "receive on" : "send from",
                          part.send ? part.channel->to : part.channel->from,
                          part.bytes, part.sequence);
    }
    return text;
  }
  std::string operator()(const RepeatEntry &e) const {
    std::string missing;
    for (const CpuStream *other : e.repeat->streams) {
      bool stands = !other->atEnd() &&
                    other->state == CpuStream::State::blocked &&
                    std::holds_alternative<RepeatEntry>(other->front().work);
      if (!stands) {
        missing +=
            fmt::format("{}'{}'", missing.empty() ? "" : ", ", other->name);
      }
    }
    return fmt::format("streams {}", missing);
  }
  std::string operator()(const GateEntry &) const {
    return "the host, which reads states beside the step";
  }
  template <typename Other> std::string operator()(const Other &) const {
    return "a worker";
  }
};
} // namespace

static std::string
describeStreams(const std::vector<std::unique_ptr<CpuStream>> &streams,
                size_t &blocked) {
  std::string text;
  blocked = 0;
  for (const auto &stream : streams) {
    if (stream->atEnd()) {
      continue;
    }
    if (++blocked > mostStreams) {
      continue;
    }
    const Entry &entry = stream->front();
    text += fmt::format(
        "; device {} stream '{}' at {} {} {}", stream->device, stream->name,
        place(*entry.origin),
        stream->state == CpuStream::State::running ? "runs" : "waits for",
        stream->state == CpuStream::State::running
            ? "a kernel"
            : std::visit(Reason{*stream}, entry.work));
  }
  if (blocked > mostStreams) {
    text += fmt::format("; and {} more", blocked - mostStreams);
  }
  return text;
}

Status Pool::deadlock() const {
  size_t blocked = 0;
  std::string text = describeStreams(streams, blocked);
  return makeError(
      ErrorKind::mismatch,
      fmt::format("deadlock: {} streams are blocked{}", blocked, text));
}

/// Programs run once for each microbatch, so the runs of an instruction tell
/// which one it is.
static size_t runsOfHead(const CpuStream &stream) {
  const auto &entries = stream.queue->entries;
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.begin() + stream.head + 1,
                    [&](const Entry &entry) {
                      return entry.origin == stream.front().origin;
                    }));
}

std::string Pool::whereWaits() const {
  for (const auto &stream : streams) {
    if (stream->atEnd() || stream->state != CpuStream::State::blocked) {
      continue;
    }
    const Entry &entry = stream->front();
    if (std::holds_alternative<CollectiveEntry>(entry.work) ||
        std::holds_alternative<ExchangeEntry>(entry.work)) {
      return fmt::format("device {} waited at {}, run {} of the step",
                         stream->device, place(*entry.origin),
                         runsOfHead(*stream));
    }
  }
  return "";
}

Status Pool::overdue(std::chrono::milliseconds deadline) const {
  size_t blocked = 0;
  std::string text = describeStreams(streams, blocked);
  return makeError(ErrorKind::timeout,
                   fmt::format("waited {} ms for {} streams{}",
                               deadline.count(), blocked, text));
}

} // namespace llmc::rt::cpu
