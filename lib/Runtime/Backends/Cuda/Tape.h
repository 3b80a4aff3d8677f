//===- Tape.h - What is enqueued, before a driver sees it -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host walks the devices one after the other, but NCCL wants a thread for
// each device, and a capture wants all streams of a step at once. So an enqueue
// writes a command to the tape of its device; the device's thread hands the
// tape to the driver when the step is submitted.
//
//   walk       tape of device 0 | tape of device 1 | submit
//   thread 0                                         capture, launch
//   thread 1                                         capture, launch
//
// Tapes are as long as the streams' shapes say, and never grow.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_TAPE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_TAPE_H

#include "Driver.h"
#include "llmc/Runtime/Comm/Communicator.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace llmc::rt::cuda {

class CudaCommunicator;
class CudaKernel;
struct CollectivePlan;
class PreparedOp;

/// Runs beside a stream: what an exchange moves on several communicators moves
/// at once, while NCCL runs what is on one stream one after the other.
struct SideStream {
  CUstream handle = nullptr;
  CUevent done = nullptr;
};

struct CudaStream final : Stream {
  std::string name;
  uint32_t number = 0; ///< Among those of the device.
  int priority = 0;
  StreamUse use = StreamUse::compute;
  uint32_t mostEntries = 0, mostWords = 0;
  CUstream handle = nullptr;
  CUevent joined = nullptr; ///< The last of a unit is done.
  /// Of the tape that is filled.
  uint32_t entries = 0, words = 0;
  /// What collectives pack their parts in; taken before they are issued.
  CUdeviceptr staging = 0;
  uint64_t stagingBytes = 0;
  /// Where the host reads counts of all members; pinned. Null event: none yet.
  int64_t *counts = nullptr;
  uint64_t countBytes = 0;
  CUevent counted = nullptr;
  std::vector<SideStream> sides;
  CUevent forked = nullptr; ///< Where sides begin; null without any.
};

struct CudaEvent final : Event {
  Origin origin;
  CUevent handle = nullptr;
  /// The unit in which it was recorded last: units run one after the other, so
  /// a wait in a later one has nothing to wait for.
  uint64_t unit = UINT64_MAX;
  bool isOfCommunication = false;
  /// Of the device's thread: the piece of a unit in which it was recorded last.
  uint64_t piece = UINT64_MAX;
};

/// A part of a step that the device's thread hands on for each trip.
struct CudaRepeat final : Repeat {
  std::vector<CudaStream *> streams; ///< The first one reads the flag.
  std::vector<CUevent> reached; ///< By stream: it has come to the next trip.
  uint8_t *flag = nullptr;      ///< As read; of pinned memory.
};

/// Where the device's thread waits before it hands on what stands after it.
class CudaGate final : public Gate {
public:
  void open(uint64_t value) override;
  double stoodSeconds() const override;
  /// Returns when the gate is open to `value`.
  void pass(uint64_t value);

private:
  mutable std::mutex mutex;
  std::condition_variable changed;
  uint64_t opened = UINT64_MAX;
  double stood = 0;
};

/// Words: buffers, then scalars.
struct LaunchCommand {
  const CudaKernel *kernel;
  uint32_t numBuffers, numScalars;
  void *scratch;
};
/// Words: buffers.
struct CallCommand {
  const PreparedOp *op;
  void *workspace;
};
struct CopyCommand {
  void *to;
  const void *from;
  const CopyBox *box;
};
struct FillCommand {
  void *to;
  uint64_t pattern;
  unsigned size;
  const CopyBox *box;
};
struct RecordCommand {
  CudaEvent *event;
};
struct WaitCommand {
  CudaEvent *event;
  /// Of a compute stream, for what a stream of communication signals.
  bool isForCommunication;
};
/// Words: ins, counts where it takes them, then outs.
struct CollectiveCommand {
  CudaCommunicator *communicator;
  const Collective *collective;
  std::shared_ptr<const CollectivePlan> plan;
  uint64_t sequence; ///< Among those of the group in the unit.
  /// It counts when it is handed on: it may be often, or not at all.
  bool countsWhenIssued;
};
struct ExchangePart {
  CudaCommunicator *communicator;
  void *buffer;
  uint64_t bytes;
  uint64_t isSend;
};
constexpr uint32_t wordsOfPart = 5; ///< As Device.h says; one is not used.
static_assert(sizeof(ExchangePart) <= wordsOfPart * sizeof(uint64_t));
/// Words: the parts, `wordsOfPart` each.
struct ExchangeCommand {
  uint32_t numParts;
};

/// Where a piece of the tape may begin.
struct GateCommand {
  CudaGate *gate;
  uint64_t value;
};

/// The body is what stands between it and command `end`.
struct RepeatCommand {
  CudaRepeat *repeat;
  const void *flag;
  size_t end;
};
struct RepeatEndCommand {};

struct Command {
  std::variant<LaunchCommand, CallCommand, CopyCommand, FillCommand,
               RecordCommand, WaitCommand, CollectiveCommand, ExchangeCommand,
               GateCommand, RepeatCommand, RepeatEndCommand>
      work;
  CudaStream *stream = nullptr;
  const Origin *origin = nullptr;
  size_t firstWord = 0;
};

/// Commands that are handed on together, when the gate is open; null: at once.
struct Piece {
  size_t begin = 0, end = 0;
  CudaGate *gate = nullptr;
  uint64_t value = 0;
};

struct Tape {
  std::vector<Command> commands;
  std::vector<uint64_t> words;

  void clear() {
    commands.clear();
    words.clear();
  }
  const uint64_t *wordsOf(const Command &command) const {
    return words.data() + command.firstWord;
  }
  ExchangePart part(const Command &command, uint32_t i) const;
  /// All of it; or what stands before the first gate, and all else with the
  /// greatest value of its gates. A gate in a repeat stands before all of it.
  std::vector<Piece> pieces() const;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_TAPE_H
