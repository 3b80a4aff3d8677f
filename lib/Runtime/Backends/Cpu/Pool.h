//===- Pool.h - The workers that serve all streams ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T workers run the ready heads of all streams of all virtual devices. Entries
// of a step all lie in queues before the first runs; meanwhile the host fills
// the other queues with the next step, which the workers begin themselves.
//
//   settleAll()     looks at heads: records and satisfied waits are passed
//                   at once; a launch becomes a task; a collective or transfer
//                   becomes one when the last party stands at it
//   work()          takes a task (by priority, or at random), runs it without
//                   the lock, moves the cursors that it held
//
// Nothing blocks, so "no task, and no worker running" is certain: either all
// cursors are at their ends, or there is a deadlock, reported with what each
// blocked head waits for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_POOL_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_POOL_H

#include "Group.h"
#include "RemoteGroup.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace llmc::rt::cpu {

/// A piece of work that a worker may take.
struct Task {
  enum class Kind : uint8_t { head, collective, transfer };
  Kind kind = Kind::head;
  CpuStream *stream = nullptr; ///< head
  Group *group = nullptr;      ///< collective
  Channel *channel = nullptr;  ///< transfer
  int priority = 0;
  uint32_t number = 0; ///< Stream or group; only for the digest of the order.

  /// When its first ticket was taken.
  TimePoint &began() const {
    return kind == Kind::head         ? stream->began
           : kind == Kind::collective ? group->began
                                      : channel->began;
  }
};

class Pool {
public:
  explicit Pool(const WorldOptions &options);
  ~Pool();
  Pool(const Pool &) = delete;

  // At load.
  CpuStream *addStream(const StreamShape &shape, int device, int threads);
  Group *addGroup(std::vector<int> members);

  // By the host.
  /// A new entry at the end of `stream` with room for `words`; null, and a
  /// sticky error, when the queue is full.
  Entry *push(CpuStream &stream, uint32_t words, const Origin &origin);
  /// The same with the parts of an exchange.
  void pushExchange(CpuStream &stream, const TransferPart *parts,
                    uint32_t numParts, const Origin &origin);
  /// Begin and end of a repeat, on all its streams.
  void pushRepeat(CpuRepeat &repeat, const void *flag, const Origin &origin);
  void pushRepeatEnd(CpuRepeat &repeat, const Origin &origin);
  /// By any thread.
  void openGate(CpuGate &gate, uint64_t value);
  double stoodSeconds(const CpuGate &gate) const;
  void fail(Status status);
  Status submit();
  Status wait(std::chrono::milliseconds deadline);
  Status drain(std::chrono::milliseconds deadline);

  OrderDigest digest() const;
  CommunicatorCounts countsOf(const Group &group) const;
  /// Of all compute streams, in the step that was waited for last.
  double exposedSeconds() const;
  std::vector<TraceSpan> takeTrace();
  int numWorkers() const { return static_cast<int>(workers.size()); }

private:
  friend class Lane;
  friend class RemoteGroup;

  void work();
  void spin(std::unique_lock<std::mutex> &lock);
  static void run(const Task &task, int ticket);
  void reserveTasks(size_t more);

  // All below: the mutex is held. Pool.cpp:
  size_t pick();
  Task take(int &ticket);
  void startClock(TimePoint &began) const;
  void note(const CpuStream &stream, TimePoint began);
  void stop(Status status);
  void endLanes();
  void startSteps();
  void endStep();
  void goOn();

  // Cursor.cpp:
  void settleAll();
  bool passes(CpuStream &stream);
  void endWait(CpuStream &stream);
  void reach(CpuEvent &event, uint64_t generation);
  void makeHeadReady(CpuStream &stream);
  void standAtCollective(CpuStream &stream, const CollectiveEntry &entry);
  void postParts(CpuStream &stream, const ExchangeEntry &entry);
  void startTransfer(Channel &channel);
  void finish(const Task &task);
  void finishCollective(Group &group);
  void leaveCollective(Group &group);
  void finishTransfer(Channel &channel);
  void advance(CpuStream &stream);
  void settleDeferred();

  // Repeat.cpp:
  void standAtRepeat(CpuStream &stream);
  void rearm(const CpuStream &stream);
  void leaveRepeat(CpuStream &stream, const RepeatEndEntry &entry);

  // Gate.cpp:
  bool passesGate(CpuStream &stream, const GateEntry &entry);

  // Report.cpp:
  Status deadlock() const;
  /// Where the first device that waits for others stands; "" if none does.
  std::string whereWaits() const;
  Status overdue(std::chrono::milliseconds deadline) const;

  WorldOptions options;
  Owners owners;
  std::vector<std::unique_ptr<CpuStream>> streams;
  std::vector<std::unique_ptr<Group>> groups;

  // Steps that the host submitted and waited for; it alone reads them without
  // the mutex.
  uint64_t submitted = 0, waited = 0;

  mutable std::mutex mutex;
  std::condition_variable wake; ///< For workers.
  std::condition_variable done; ///< For the host.
  uint64_t ended = 0;           ///< Steps.
  /// By the step's number mod 2: seconds that compute streams stood at waits
  /// for communication.
  double exposed[mostSteps] = {};
  bool active = false; ///< A step runs.
  bool leaving = false;
  size_t numReady = 0; ///< Workers that have prepared themselves.
  int running = 0;
  int waiting = 0; ///< Lanes that wait for other processes.
  int atGates = 0; ///< Streams that wait for the host.
  /// A copy of `active && !ready.empty()` that spinning workers read.
  std::atomic<bool> hint{false};
  size_t undrained = 0; ///< Streams whose cursor is not at the end.
  std::vector<Task> ready;
  size_t mostTasks = 0;
  std::vector<CpuStream *> unsettled; ///< To be looked at by `settleAll`.
  std::vector<CpuStream *> deferred;  ///< Too early for a group or channel.
  Status sticky;
  uint64_t random;
  OrderDigest order;
  std::vector<TraceSpan> spans; ///< Only where the options ask for them.
  std::vector<std::thread> workers;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_POOL_H
