//===- CudaDevice.h - One GPU ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owns what is reserved in the primary context of one GPU, and the tapes on
// which the host writes. What is between two submits is a *unit*: a step, or
// what was enqueued outside of any. A unit begins on the device's own stream,
// the chain, and ends there; so units run one after the other, and a capture
// begins and ends on one stream:
//
//   chain   | fork .......................... join | end of the unit
//   T       |    wait fork, entries, joined   wait |
//   C       |    wait fork, entries, joined   wait |
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H

#include "Cublas.h"
#include "Cudnn.h"
#include "Fault.h"
#include "Kernels.h"
#include "PreparedOp.h"
#include "Tape.h"
#include "Timeline.h"
#include "llmc/Runtime/Base/CudnnAttention.h"
#include "llmc/Runtime/Base/MatmulPlan.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <thread>

namespace llmc::rt::cuda {

class Issue;

/// How a unit reaches the device: enqueued at once, captured as a graph and
/// launched, or launched as the graph that an earlier unit of its key is. What
/// the host must be asked in, as a loop that the run ends, is enqueued at once.
enum class UnitMode : uint8_t { eager, capture, replay };

struct Unit {
  uint64_t number = 0;
  UnitMode mode = UnitMode::eager;
  uint64_t key = 0; ///< Of a step.
  bool hasTape = false;
};

/// Units whose ends are told apart: two steps, and what lies between them.
constexpr uint64_t numEnds = 8;
/// One is filled while the other is issued.
constexpr uint64_t numTapes = 2;

/// A graph, and the gate before it or null.
struct CapturedPiece {
  CUgraphExec graph = nullptr;
  CudaGate *gate = nullptr;
  uint64_t value = 0;
};

/// An entry at which a stream meets others, for reports.
struct Meeting {
  const Origin *origin = nullptr;
  std::string peers; ///< "devices 1, 0 in all_gather"
};
/// By number of the stream.
using Meetings = std::vector<std::vector<Meeting>>;

class CudaDevice final : public Device {
public:
  /// `number` is the world's, `ordinal` the driver's. Makes nothing yet.
  CudaDevice(const Driver &driver, KernelObjects &objects, Fault &fault,
             int number, int ordinal, bool traces)
      : driver(driver), objects(objects), fault(fault), number(number),
        ordinal(ordinal), timeline(driver, number, traces) {}
  ~CudaDevice() override;

  /// Retains the context, makes the chain and starts the thread.
  Status open();

  int index() const override { return number; }
  uint64_t memoryBytes() const override;
  Result<Arena> reserve(uint64_t bytes, MemoryKind kind) override;
  Result<Stream *> stream(const StreamShape &shape) override;
  Result<Event *> event(const Origin &origin) override;
  Result<const void *> load(const std::string &path) override;
  Result<const Kernel *> kernel(const KernelShape &shape) override;
  Result<const LibraryOp *> prepare(const LibraryShape &shape) override;
  Result<Repeat *> repeat(std::vector<Stream *> streams) override;
  Result<Gate *> gate() override;
  Status readAside(void *to, const void *from, uint64_t bytes) override;

  void launch(Stream &, const Launch &, const Origin &) override;
  void call(Stream &, const LibraryOp &, void *const *buffers,
            uint32_t numBuffers, void *workspace, const Origin &) override;
  void copy(Stream &, void *to, const void *from, const CopyBox &box,
            const Origin &) override;
  void fill(Stream &, void *to, uint64_t pattern, unsigned size,
            const CopyBox &box, const Origin &) override;
  void record(Stream &, Event &, const Origin &) override;
  void wait(Stream &, Event &, const Origin &) override;
  void waitFor(Stream &, Gate &, uint64_t value, const Origin &) override;
  void beginRepeat(Repeat &, const void *flag, const Origin &) override;
  void endRepeat(Repeat &, const Origin &) override;

  // For the world and its communicators, on the host's thread.

  /// A command of `words` words at the end of the tape, or null where the
  /// stream's shape has no room, which ends the world.
  Command *push(CudaStream &stream, uint32_t words, const Origin &origin);
  uint64_t *wordsOf(const Command &command) {
    return tape().words.data() + command.firstWord;
  }
  bool hasWork() const { return hasTape; }
  /// Between `beginRepeat` and `endRepeat`.
  bool isInRepeat() const { return openRepeat.has_value(); }
  /// The unit that is filled has what the host is asked in: no graph has that.
  void askHost() { asksHost = true; }
  bool asks() const { return asksHost; }
  /// Gives the unit, with the tape that is filled, to the thread.
  void post(Unit given);
  /// Whether the unit has been issued and has ended. Errors are those of the
  /// device.
  Result<bool> hasEnded(uint64_t unit);
  Status makeCurrent() const;
  /// Where the streams of the unit stand that have not ended: "; device 0
  /// stream 'T' at 'reduce' (m.py:88) waits for ...".
  std::string describe(uint64_t unit);
  /// The first of them: "device 0 waited at 'reduce' (m.py:88)"; or nothing.
  std::string whereWaits(uint64_t unit);
  Timeline &times() { return timeline; }
  /// What is captured is launched no more; nor is what is captured later. NCCL
  /// keeps a communicator as long as some graph has it. For a world that ends.
  void dropGraphs();
  CUdevice handle() const { return device; }

private:
  friend class Issue;

  /// A stream, and where it stands.
  using Waiting = std::pair<const CudaStream *, const Meeting *>;
  std::vector<Waiting> findWaiting(uint64_t unit) const;
  Tape &tape() { return tapes[unit % numTapes]; }
  const Tape &tapeOf(const Unit &given) const;
  /// Waits until what was on the tape that is to be filled has been issued.
  bool takeTape();
  void work();
  Status issue(const Unit &unit);
  Status capture(const Unit &unit);
  Status replay(const Unit &unit);
  /// One more piece of a key. Error: the graphs are dropped.
  Status keep(uint64_t key, const CapturedPiece &made);
  Status launch(const CapturedPiece &given);
  Status issueTape(const Unit &unit);
  /// What the unit's streams will come to, before they can.
  void begin(const Unit &unit, std::shared_ptr<const Meetings> met);
  /// The thread begins trip `count` of a loop; null: it is in none.
  void enterTrip(const Origin *given, uint64_t count);
  Result<CUgraphExec> capturePiece(Issue &work, const Piece &piece);
  Result<CUstream> makeStream(int priority);
  Result<CUevent> makeEvent(unsigned flags);
  Status prepareMatmul(const LibraryShape &shape, MatmulPlan plan);
  Status prepareConvolution(const LibraryShape &shape,
                            CudnnConvolution convolution);
  Status prepareAttention(const LibraryShape &shape, CudnnAttention attention);
  Status openCudnn();

  const Driver &driver;
  KernelObjects &objects;
  Fault &fault;
  int number, ordinal;
  CUdevice device = 0;
  CUcontext context = nullptr;
  uint64_t totalBytes = 0;
  int leastPriority = 0, greatestPriority = 0;
  CUstream chain = nullptr;
  CUstream aside = nullptr; ///< Of `readAside`.
  CUevent fork = nullptr;
  std::array<CUevent, numEnds> ends{};

  const Cublas *cublas = nullptr;
  cublasLtHandle_t library = nullptr;
  std::unique_ptr<Modules> modules;
  std::vector<CUdeviceptr> deviceMemory;
  std::vector<void *> hostMemory;
  std::vector<std::unique_ptr<CudaStream>> streams;
  std::vector<std::unique_ptr<CudaEvent>> events;
  std::vector<std::unique_ptr<CudaKernel>> kernels;
  const Cudnn *cudnn = nullptr;
  CudnnHandle convolver = nullptr;
  std::vector<std::unique_ptr<PreparedOp>> ops;
  std::vector<std::unique_ptr<CudaGate>> gates;
  std::vector<std::unique_ptr<CudaRepeat>> repeats;

  /// Where each stream writes how many of its meetings it has come to; of the
  /// host, by number.
  uint32_t *marks = nullptr;
  CUdeviceptr marksOnDevice = 0;

  uint64_t unit = 0;    ///< That is filled.
  bool hasTape = false; ///< Something is on its tape.
  bool asksHost = false;
  std::optional<size_t> openRepeat; ///< Its command.
  std::array<Tape, numTapes> tapes;

  // Shared with the thread, guarded by `mutex`.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Unit> queue;
  uint64_t begun = 0, issued = 0; ///< Units.
  bool stops = false;
  /// The loop in which the thread is, and its trip from 1 on; or null.
  const Origin *loop = nullptr;
  uint64_t trip = 0;
  std::array<std::shared_ptr<const Meetings>, numEnds> meetings;

  // Of the thread alone.
  std::vector<CUdeviceptr> stagingMemory;
  std::vector<void *> countMemory;
  uint64_t piece = 0; ///< Of all units.
  /// By key. Who ends the world drops what is in it.
  std::map<uint64_t, std::vector<CapturedPiece>> graphs;
  std::mutex launching; ///< Guards `graphs`.
  bool hasDropped = false;
  std::map<uint64_t, std::shared_ptr<const Meetings>> meetingsOfKey;
  std::thread thread;

  Timeline timeline;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H
