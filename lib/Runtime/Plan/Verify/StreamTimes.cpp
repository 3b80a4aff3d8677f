//===- StreamTimes.cpp - When streams run what ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Verify/StreamTimesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Verify/StreamTimes.h"

#include <algorithm>

namespace llmc::rt::plan {

std::string StreamTimesProblem::check() const {
  std::vector<int32_t> found(meetings.size(), 0);
  for (const std::vector<Entry> &entries : devices) {
    for (const Entry &entry : entries) {
      auto size = static_cast<int32_t>(entries.size());
      if (entry.stream < 0 || entry.stream >= numStreams) {
        return "an entry is on a stream that is not there";
      }
      if (entry.after < -1 || entry.after >= size) {
        return "an entry waits for one that is not there";
      }
      if (entry.meeting >= static_cast<int32_t>(meetings.size())) {
        return "an entry is at a meeting that is not there";
      }
      if (!(entry.seconds >= 0)) {
        return "an entry takes less than no time";
      }
      if (entry.meeting >= 0) {
        ++found[entry.meeting];
      }
    }
  }
  for (size_t meeting = 0; meeting < meetings.size(); ++meeting) {
    if (found[meeting] != meetings[meeting]) {
      return "expected " + std::to_string(meetings[meeting]) +
             " entries at meeting " + std::to_string(meeting) + ", got " +
             std::to_string(found[meeting]);
    }
  }
  return "";
}

namespace {

class Clocks {
public:
  Clocks(const StreamTimesProblem &problem, bool isFree);

  StreamTimes run();

private:
  using Entry = StreamTimesProblem::Entry;
  struct Stream {
    std::vector<int32_t> entries;
    size_t head = 0;
    double now = 0;
    /// It has come to the meeting at its head.
    bool stands = false;
  };
  struct Meeting {
    int32_t missing = 0;
    double begin = 0;
  };

  bool advance(size_t device, Stream &stream);
  bool mayBegin(const Entry &entry, Stream &stream, double &begin);

  const StreamTimesProblem &problem;
  bool isFree;
  std::vector<std::vector<Stream>> streams;
  /// Of each entry; -1 before.
  std::vector<std::vector<double>> begins, ends;
  std::vector<Meeting> meetings;
};

} // namespace

Clocks::Clocks(const StreamTimesProblem &problem, bool isFree)
    : problem(problem), isFree(isFree) {
  for (const auto &entries : problem.devices) {
    streams.emplace_back(problem.numStreams);
    begins.emplace_back(entries.size(), -1);
    ends.emplace_back(entries.size(), -1);
    for (size_t i = 0; i < entries.size(); ++i) {
      streams.back()[entries[i].stream].entries.push_back(
          static_cast<int32_t>(i));
    }
  }
  for (int32_t members : problem.meetings) {
    meetings.push_back({members, 0});
  }
}

/// At a meeting all begin when the last has come.
bool Clocks::mayBegin(const Entry &entry, Stream &stream, double &begin) {
  if (entry.meeting < 0) {
    return true;
  }
  Meeting &meeting = meetings[entry.meeting];
  if (!stream.stands) {
    stream.stands = true;
    --meeting.missing;
    meeting.begin = std::max(meeting.begin, begin);
  }
  begin = meeting.begin;
  return meeting.missing == 0;
}

/// Runs entries of the stream as far as it goes; false where none runs.
bool Clocks::advance(size_t device, Stream &stream) {
  size_t first = stream.head;
  for (; stream.head < stream.entries.size(); ++stream.head) {
    int32_t number = stream.entries[stream.head];
    const Entry &entry = problem.devices[device][number];
    double before = entry.after < 0 ? 0 : ends[device][entry.after];
    double begin = std::max(stream.now, before);
    if (before < 0 || !mayBegin(entry, stream, begin)) {
      break;
    }
    stream.now = begin + (isFree && entry.moves ? 0 : entry.seconds);
    begins[device][number] = begin;
    ends[device][number] = stream.now;
    stream.stands = false;
  }
  return stream.head > first;
}

StreamTimes Clocks::run() {
  for (bool runs = true; runs;) {
    runs = false;
    for (size_t device = 0; device < streams.size(); ++device) {
      for (Stream &stream : streams[device]) {
        runs |= advance(device, stream);
      }
    }
  }
  StreamTimes result;
  for (size_t device = 0; device < streams.size(); ++device) {
    for (const Stream &stream : streams[device]) {
      result.seconds = std::max(result.seconds, stream.now);
      if (stream.head < stream.entries.size()) {
        result.error = "entry " + std::to_string(stream.entries[stream.head]) +
                       " of device " + std::to_string(device) + " never begins";
      }
    }
  }
  result.begins = std::move(begins);
  result.ends = std::move(ends);
  return result;
}

StreamTimes findTimes(const StreamTimesProblem &problem, bool isFree) {
  return Clocks(problem, isFree).run();
}

} // namespace llmc::rt::plan
