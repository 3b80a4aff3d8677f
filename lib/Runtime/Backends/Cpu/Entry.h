//===- Entry.h - The entries of a CPU stream ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream is two queues of entries and a cursor. Nothing blocks: a worker runs
// the entry under a cursor when it is ready, then moves the cursor. All fields
// that change while the pool runs are guarded by the pool's mutex.
//
//   entries  [ k_embed | record e1 | wait e4 | matmul | ... ]
//                                      ^ head
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ENTRY_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ENTRY_H

#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Device/Device.h"

#include <algorithm>
#include <chrono>
#include <variant>
#include <vector>

namespace llmc::rt::cpu {

class CpuKernel;
class CpuLibraryOp;
class Group;
class Pool;
struct Channel;
struct CpuGate;
struct CpuRepeat;
struct CpuStream;

using TimePoint = std::chrono::steady_clock::time_point;

/// `recorded` counts the records enqueued, `reached` is the greatest that ran.
/// A wait that expects n passes when `reached >= n`.
struct CpuEvent final : Event {
  Origin origin;
  uint64_t recorded = 0;
  uint64_t reached = 0;
  /// The latest record that was enqueued is on a stream of communication; the
  /// host alone reads it.
  bool isOfCommunication = false;
  CpuStream *waiters = nullptr; ///< Blocked streams, linked by `nextWaiter`.
};

struct LaunchEntry {
  const CpuKernel *kernel;
  uint32_t numBuffers; ///< Then the scalars, in the stream's words.
  void *scratch;
};
/// Words: the buffers.
struct LibraryEntry {
  const CpuLibraryOp *op;
  void *workspace;
};
struct CopyEntry {
  void *to;
  const void *from;
  const CopyBox *box;
};
struct FillEntry {
  void *to;
  uint64_t pattern;
  const CopyBox *box;
  unsigned size;
};
struct RecordEntry {
  CpuEvent *event;
  uint64_t generation;
  /// In a repeat: the generation for those who wait for its end, else 0.
  uint64_t afterwards;
};
struct WaitEntry {
  CpuEvent *event;
  uint64_t generation;
  /// Of a compute stream, for what a stream of communication signals.
  bool isForCommunication;
};
/// Words: ins, then outs.
struct CollectiveEntry {
  Group *group;
  const Collective *collective;
  uint64_t sequence; ///< Position in the member's order of collectives.
  int rank;
};
/// The parts lie in the stream's words.
struct ExchangeEntry {
  uint32_t numParts;
};
/// Where the streams of a repeat meet before each trip; `end` is the position
/// of its end in the queue.
struct RepeatEntry {
  CpuRepeat *repeat;
  const void *flag;
  uint32_t end;
};
/// Goes back to `begin`.
struct RepeatEndEntry {
  CpuRepeat *repeat;
  uint32_t begin;
};

/// Passes when the gate is open to `value`.
struct GateEntry {
  CpuGate *gate;
  uint64_t value;
};

struct ExchangePart {
  void *buffer;
  uint64_t bytes;
  uint64_t sequence; ///< Among the transfers from one member to the other.
  Channel *channel;
  bool send;
  bool posted; ///< Stands at its channel.
};
constexpr uint32_t wordsOfPart = sizeof(ExchangePart) / sizeof(uint64_t);
static_assert(sizeof(ExchangePart) == 40);

struct Entry {
  std::variant<LaunchEntry, LibraryEntry, CopyEntry, FillEntry, RecordEntry,
               WaitEntry, CollectiveEntry, ExchangeEntry, RepeatEntry,
               RepeatEndEntry, GateEntry>
      work;
  const Origin *origin = nullptr;
  uint64_t *words = nullptr;
};

/// What one step enqueues on a stream; reserved at load.
struct Queue {
  std::vector<Entry> entries;
  std::vector<uint64_t> words;
  uint32_t numEntries = 0, numWords = 0;
};

struct CpuStream final : Stream {
  enum class State : uint8_t { drained, ready, running, blocked };

  std::string name;
  int device = 0;
  int priority = 0;
  int threads = 1; ///< Of the device.
  StreamUse use = StreamUse::compute;
  uint32_t number = 0; ///< Among all streams of the world.

  /// By the step's number mod 2: the host fills one while the pool runs the
  /// other.
  Queue queues[mostSteps];

  // The cursor.
  const Queue *queue = queues; ///< Of the step that runs.
  uint32_t head = 0;
  State state = State::drained;
  int tickets = 0, nextTicket = 0, doneTickets = 0;
  TimePoint began;        ///< Of a traced world, as in groups and channels.
  TimePoint stands;       ///< Since when it waits for communication.
  uint32_t partsLeft = 0; ///< Of an exchange at the head.
  bool posted = false;    ///< The exchange at the head has posted its parts.
  /// The cursor goes through a repeat whose flag does not hold: it waits and
  /// records, and runs nothing.
  bool skips = false;
  CpuStream *nextWaiter = nullptr;

  bool atEnd() const { return head == queue->numEntries; }
  const Entry &front() const { return queue->entries[head]; }
  uint64_t *frontWords() const { return front().words; }
};

struct CpuRepeat final : Repeat {
  std::vector<CpuStream *> streams;
  std::vector<uint32_t> begins; ///< By stream: where the host put the begin.
  size_t numStanding = 0;
  bool hasRun = false; ///< The trip before ran.
};

struct CpuGate final : Gate {
  explicit CpuGate(Pool &pool) : pool(pool) {}

  void open(uint64_t value) override;
  double stoodSeconds() const override;

  Pool &pool;
  // Guarded by the pool's mutex.
  uint64_t opened = UINT64_MAX;
  CpuStream *waiters = nullptr; ///< Linked by `nextWaiter`.
  TimePoint began;              ///< Since when any stream stands here.
  double stood = 0;             ///< Seconds until then.
};

/// How many tickets the entry is cut into, and the range of ticket t of n over
/// `extent`: contiguous, in order, of nearly equal size.
struct Range {
  int64_t begin, end;
};
inline Range ticketRange(int64_t extent, int ticket, int tickets) {
  return {extent / tickets * ticket +
              std::min<int64_t>(extent % tickets, ticket),
          extent / tickets * (ticket + 1) +
              std::min<int64_t>(extent % tickets, ticket + 1)};
}

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ENTRY_H
