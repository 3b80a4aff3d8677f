//===- AccessHistory.cpp - Last writes and reads of each byte -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Verify/AccessHistoryTest.cpp
//===----------------------------------------------------------------------===//

#include "AccessHistory.h"

#include <iterator>

namespace llmc::rt::plan {

void AccessHistory::split(int64_t at) {
  auto next = segments_.upper_bound(at);
  if (next == segments_.begin()) {
    return;
  }
  auto segment = std::prev(next);
  if (segment->first == at || segment->second.end <= at) {
    return;
  }
  Segment tail = segment->second;
  segment->second.end = at;
  segments_.emplace_hint(next, at, std::move(tail));
}

AccessHistory::Map::iterator AccessHistory::cover(Interval bytes) {
  split(bytes.low);
  split(bytes.high);
  int64_t at = bytes.low;
  auto segment = segments_.lower_bound(at);
  while (at < bytes.high) {
    bool isGap = segment == segments_.end() || segment->first > at;
    if (isGap) {
      Segment gap;
      gap.end = segment == segments_.end() || segment->first > bytes.high
                    ? bytes.high
                    : segment->first;
      segment = segments_.emplace_hint(segment, at, std::move(gap));
    }
    at = segment->second.end;
    ++segment;
  }
  return segments_.lower_bound(bytes.low);
}

void AccessHistory::define(Interval bytes, int32_t buffer) {
  if (bytes.low >= bytes.high) {
    return;
  }
  for (auto it = cover(bytes); it != segments_.end() && it->first < bytes.high;
       ++it) {
    it->second.defined = true;
    it->second.buffer = buffer;
  }
}

static AccessHistory::Outcome raceWith(const Moment &other, int32_t buffer) {
  return {AccessHistory::Fault::race, other, buffer, {}};
}

AccessHistory::Outcome AccessHistory::checkRead(const Segment &segment,
                                                const ByteAccess &access,
                                                const Clock &clock,
                                                bool exact) const {
  if (!isBefore(segment.writer, clock)) {
    return raceWith(segment.writer, segment.buffer);
  }
  for (const Moment &moment : segment.mayWrite) {
    if (!isBefore(moment, clock)) {
      return raceWith(moment, segment.buffer);
    }
  }
  if (!exact) {
    return {};
  }
  if (!segment.defined) {
    return {Fault::undefined, {}, -1, {}};
  }
  if (segment.buffer != access.buffer) {
    return {Fault::lost, segment.writer, segment.buffer, {}};
  }
  if (access.oncePerMicrobatch && segment.tag != access.tag) {
    return {Fault::stale, segment.writer, segment.buffer, {}};
  }
  return {};
}

AccessHistory::Outcome AccessHistory::checkWrite(const Segment &segment,
                                                 const ByteAccess &access,
                                                 const Moment &now,
                                                 const Clock &clock) const {
  if (!isBefore(segment.writer, clock)) {
    return raceWith(segment.writer, segment.buffer);
  }
  for (const auto *list : {&segment.readers, &segment.mayWrite}) {
    for (const Moment &moment : *list) {
      bool isSelf = moment.stream == now.stream && moment.count == now.count;
      if (!isSelf && !isBefore(moment, clock)) {
        return raceWith(moment, segment.buffer);
      }
    }
  }
  bool again = segment.defined && segment.buffer == access.buffer &&
               segment.tag == access.tag;
  // What works in place has read what it replaces.
  if (access.oncePerMicrobatch && access.dense && again &&
      access.access == Access::write) {
    return {Fault::rewritten, segment.writer, segment.buffer, {}};
  }
  return {};
}

void AccessHistory::noteRead(Interval bytes, const Moment &now) {
  for (auto it = segments_.lower_bound(bytes.low);
       it != segments_.end() && it->first < bytes.high; ++it) {
    // Of each stream the last read is the one that matters.
    bool found = false;
    for (Moment &moment : it->second.readers) {
      if (moment.stream == now.stream) {
        moment = now;
        found = true;
      }
    }
    if (!found) {
      it->second.readers.push_back(now);
    }
  }
}

void AccessHistory::noteWrite(const ByteAccess &access, const Moment &now) {
  // All that was here is ordered before this write, so it may be forgotten.
  split(access.exact.low);
  split(access.exact.high);
  auto first = segments_.lower_bound(access.hull.low);
  while (first != segments_.end() && first->first < access.hull.high) {
    bool isExact = first->first >= access.exact.low &&
                   first->second.end <= access.exact.high;
    if (isExact) {
      first = segments_.erase(first);
    } else {
      first->second.mayWrite.push_back(now);
      ++first;
    }
  }
  if (access.exact.low >= access.exact.high) {
    return;
  }
  Segment segment;
  segment.end = access.exact.high;
  segment.defined = !access.isScratch;
  segment.writer = now;
  segment.buffer = access.buffer;
  segment.tag = access.tag;
  segments_.emplace(access.exact.low, std::move(segment));
}

AccessHistory::Outcome AccessHistory::apply(const ByteAccess &access,
                                            const Moment &now,
                                            const Clock &clock) {
  if (access.hull.low >= access.hull.high) {
    return {};
  }
  bool reads = access.access != Access::write;
  bool writes = access.access != Access::read;
  auto first = cover(access.hull);
  if (reads) {
    split(access.exact.low);
    split(access.exact.high);
    first = segments_.lower_bound(access.hull.low);
  }
  for (auto it = first; it != segments_.end() && it->first < access.hull.high;
       ++it) {
    bool exact =
        it->first >= access.exact.low && it->second.end <= access.exact.high;
    Outcome outcome;
    if (reads) {
      outcome = checkRead(it->second, access, clock, exact);
    }
    if (outcome.fault == Fault::none && writes) {
      outcome = checkWrite(it->second, access, now, clock);
    }
    if (outcome.fault != Fault::none) {
      outcome.bytes = {it->first, it->second.end};
      return outcome;
    }
  }
  if (writes) {
    noteWrite(access, now);
  } else {
    noteRead(access.hull, now);
  }
  return {};
}

} // namespace llmc::rt::plan
