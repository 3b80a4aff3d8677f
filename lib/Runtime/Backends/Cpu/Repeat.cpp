//===- Repeat.cpp - A part of a step that runs again ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of a repeat meet before each trip, read its flag, and go through
// the trip; at its end each goes back. Where the flag does not hold they go
// through it once more and run nothing: they wait and record as a trip does, so
// what is ordered by a trip is ordered without one too.
//
//   C [ begin | wait e | k | end | ... ]     T [ begin | record e | end | ... ]
//       meet <--------------+ back               meet <---------+ back
//
// Events that a trip records count as not reached in the next one, and the
// members of a group count its collectives again.
//
// Tested by test/Runtime/Device and test/Runtime/Backends/Cpu.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include <algorithm>

namespace llmc::rt::cpu {

void Pool::pushRepeat(CpuRepeat &repeat, const void *flag,
                      const Origin &origin) {
  for (size_t i = 0; i < repeat.streams.size(); ++i) {
    CpuStream &stream = *repeat.streams[i];
    if (Entry *entry = push(stream, 0, origin)) {
      entry->work = RepeatEntry{&repeat, flag, 0};
      const Queue &queue = stream.queues[submitted % mostSteps];
      repeat.begins[i] = queue.numEntries - 1;
    }
  }
}

/// What waits for a record after the repeat waits for its end.
void Pool::pushRepeatEnd(CpuRepeat &repeat, const Origin &origin) {
  for (size_t i = 0; i < repeat.streams.size(); ++i) {
    CpuStream &stream = *repeat.streams[i];
    Entry *entry = push(stream, 0, origin);
    if (!entry) {
      return;
    }
    Queue &queue = stream.queues[submitted % mostSteps];
    uint32_t begin = repeat.begins[i], end = queue.numEntries - 1;
    entry->work = RepeatEndEntry{&repeat, begin};
    std::get<RepeatEntry>(queue.entries[begin].work).end = end;
    for (uint32_t at = begin + 1; at < end; ++at) {
      if (auto *record = std::get_if<RecordEntry>(&queue.entries[at].work)) {
        record->afterwards = ++record->event->recorded;
      }
    }
  }
}

/// Before another trip: its events are not reached, its collectives come next.
void Pool::rearm(const CpuStream &stream) {
  const auto &begin = std::get<RepeatEntry>(stream.front().work);
  for (uint32_t at = stream.head + 1; at < begin.end; ++at) {
    const Entry &entry = stream.queue->entries[at];
    if (auto *record = std::get_if<RecordEntry>(&entry.work)) {
      uint64_t &reached = record->event->reached;
      reached = std::min(reached, record->generation - 1);
    } else if (auto *each = std::get_if<CollectiveEntry>(&entry.work)) {
      ++each->group->again[each->rank];
    }
  }
}

/// When all streams of the repeat stand here, the flag decides.
void Pool::standAtRepeat(CpuStream &stream) {
  const auto &entry = std::get<RepeatEntry>(stream.front().work);
  CpuRepeat &repeat = *entry.repeat;
  stream.state = CpuStream::State::blocked;
  if (++repeat.numStanding < repeat.streams.size()) {
    return;
  }
  repeat.numStanding = 0;
  bool holds = *static_cast<const uint8_t *>(entry.flag) != 0;
  for (CpuStream *each : repeat.streams) {
    if (repeat.hasRun) {
      rearm(*each);
    }
    each->skips = !holds;
    advance(*each);
  }
  repeat.hasRun = holds;
}

void Pool::leaveRepeat(CpuStream &stream, const RepeatEndEntry &entry) {
  if (!stream.skips) {
    stream.head = entry.begin;
    standAtRepeat(stream);
    return;
  }
  stream.skips = false;
  for (uint32_t at = entry.begin + 1; at < stream.head; ++at) {
    const Entry &each = stream.queue->entries[at];
    if (auto *record = std::get_if<RecordEntry>(&each.work)) {
      reach(*record->event, record->afterwards);
    }
  }
  advance(stream);
}

} // namespace llmc::rt::cpu
