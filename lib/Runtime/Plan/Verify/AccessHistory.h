//===- AccessHistory.h - Last writes and reads of each byte -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena of one device as segments, each with its last write and what has
// read it since. An access is legal when what it conflicts with happened before
// it: vector clocks over streams, as in FastTrack (Flanagan, Freund, PLDI
// 2009).
//
// A read must find bytes that were last written through its own buffer, and for
// values of a microbatch, in that microbatch: so no value is lost to another
// that was given the same place.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_ACCESSHISTORY_H
#define LLMC_LIB_RUNTIME_PLAN_ACCESSHISTORY_H

#include "llmc/Runtime/Plan/Format/Instruction.h"

#include <cstdint>
#include <map>
#include <vector>

namespace llmc::rt::plan {

/// One component for each stream of a device: how many of its items are known
/// to have completed.
using Clock = std::vector<int32_t>;

inline void joinClock(Clock &clock, const Clock &other) {
  for (size_t i = 0; i < clock.size(); ++i) {
    clock[i] = clock[i] < other[i] ? other[i] : clock[i];
  }
}

/// An item by its stream (component of clocks) and its count in it, from 1.
/// Count 0 happened before everything.
struct Moment {
  int32_t stream = 0;
  int32_t count = 0;
  /// For reports.
  int32_t item = -1;
};

inline bool isBefore(const Moment &moment, const Clock &clock) {
  return clock[moment.stream] >= moment.count;
}

struct ByteAccess {
  Access access = Access::read;
  int32_t buffer = 0;
  int64_t tag = -1;
  /// The bytes that the representative device touches.
  Interval exact;
  /// The bytes that any device may touch; contains `exact`.
  Interval hull;
  /// False when `exact` has holes (strided operands).
  bool dense = true;
  /// The value belongs to one microbatch, and is written once in it.
  bool oncePerMicrobatch = false;
  bool isScratch = false;
};

class AccessHistory {
public:
  enum class Fault {
    none,
    /// Bytes that nothing has written.
    undefined,
    /// Bytes last written through another buffer.
    lost,
    /// A value of another microbatch.
    stale,
    /// A conflicting access that is not ordered.
    race,
    /// A value written again after it was complete.
    rewritten,
  };
  struct Outcome {
    Fault fault = Fault::none;
    /// The other party, where there is one.
    Moment other;
    /// Through which the other party used the bytes; -1 where it is only
    /// known that some device does.
    int32_t otherBuffer = -1;
    /// Where they met first.
    Interval bytes;
  };

  /// Contents from before the entry.
  void define(Interval bytes, int32_t buffer);
  /// Records the access of the item at `now`, whose clock is `clock`.
  Outcome apply(const ByteAccess &access, const Moment &now,
                const Clock &clock);

private:
  struct Segment {
    int64_t end = 0;
    bool defined = false;
    Moment writer;
    int32_t buffer = -1;
    int64_t tag = -1;
    std::vector<Moment> readers;
    /// Items that write here on some device, but not on the representative.
    std::vector<Moment> mayWrite;
  };
  using Map = std::map<int64_t, Segment>;

  /// Makes `at` a boundary of segments.
  void split(int64_t at);
  /// Segments that cover `bytes`, gaps filled with undefined ones.
  Map::iterator cover(Interval bytes);
  Outcome checkRead(const Segment &segment, const ByteAccess &access,
                    const Clock &clock, bool exact) const;
  Outcome checkWrite(const Segment &segment, const ByteAccess &access,
                     const Moment &now, const Clock &clock) const;
  void noteRead(Interval bytes, const Moment &now);
  void noteWrite(const ByteAccess &access, const Moment &now);

  /// By first byte; apart.
  Map segments_;
};

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_ACCESSHISTORY_H
