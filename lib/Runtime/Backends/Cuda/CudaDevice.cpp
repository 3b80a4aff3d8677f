//===- CudaDevice.cpp - One GPU -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's side: what is reserved at load, and what is written on tapes. What
// the device's thread makes of them stands in Issue.cpp.
// Tested by test/Runtime/Device/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "AttentionOp.h"
#include "ConvolutionOp.h"
#include "Libraries.h"
#include "MatmulOp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cuda {

/// Streams of a device that write marks.
constexpr uint32_t mostMarks = 1024;

CudaDevice::~CudaDevice() {
  if (thread.joinable()) {
    for (auto &gate : gates) {
      gate->open(UINT64_MAX);
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      stops = true;
    }
    changed.notify_all();
    thread.join();
  }
  if (!context) {
    return;
  }
  (void)driver.cuCtxSetCurrent(context);
  // What has been launched still uses what is given back below.
  if (chain) {
    (void)driver.cuStreamSynchronize(chain);
  }
  // A unit that failed while it was issued has not come back to the chain.
  for (auto &stream : streams) {
    (void)driver.cuStreamSynchronize(stream->handle);
  }
  dropGraphs();
  timeline.clear();
  ops.clear();
  if (library) {
    cublas->cublasLtDestroy(library);
  }
  if (convolver) {
    cudnn->cudnnDestroy(convolver);
  }
  modules.reset();
  for (auto &stream : streams) {
    for (SideStream &side : stream->sides) {
      driver.cuEventDestroy(side.done);
      driver.cuStreamDestroy(side.handle);
    }
    for (CUevent event : {stream->forked, stream->counted}) {
      if (event) {
        driver.cuEventDestroy(event);
      }
    }
    driver.cuEventDestroy(stream->joined);
    driver.cuStreamDestroy(stream->handle);
  }
  for (auto &event : events) {
    driver.cuEventDestroy(event->handle);
  }
  for (auto &repeat : repeats) {
    for (CUevent event : repeat->reached) {
      driver.cuEventDestroy(event);
    }
  }
  for (CUevent event : ends) {
    if (event) {
      driver.cuEventDestroy(event);
    }
  }
  if (fork) {
    driver.cuEventDestroy(fork);
  }
  for (CUstream own : {chain, aside}) {
    if (own) {
      driver.cuStreamDestroy(own);
    }
  }
  for (const auto *memories : {&deviceMemory, &stagingMemory}) {
    for (CUdeviceptr memory : *memories) {
      driver.cuMemFree(memory);
    }
  }
  for (const auto *memories : {&hostMemory, &countMemory}) {
    for (void *memory : *memories) {
      driver.cuMemFreeHost(memory);
    }
  }
  driver.cuDevicePrimaryCtxRelease(device);
}

Status CudaDevice::makeCurrent() const {
  return driver.check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Result<CUstream> CudaDevice::makeStream(int priority) {
  // Of the driver's numbers the smaller one runs first.
  int wanted = std::clamp(-priority, greatestPriority, leastPriority);
  CUstream made = nullptr;
  LLMC_TRY(driver.check(
      driver.cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, wanted),
      "cuStreamCreateWithPriority"));
  return made;
}

Result<CUevent> CudaDevice::makeEvent(unsigned flags) {
  CUevent made = nullptr;
  LLMC_TRY(driver.check(driver.cuEventCreate(&made, flags), "cuEventCreate"));
  return made;
}

Status CudaDevice::open() {
  LLMC_TRY(driver.check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  LLMC_TRY(driver.check(driver.cuDevicePrimaryCtxRetain(&context, device),
                        fmt::format("expected a context on GPU {}", ordinal)));
  LLMC_TRY(makeCurrent());
  size_t bytes = 0;
  LLMC_TRY(driver.check(driver.cuDeviceTotalMem(&bytes, device),
                        "cuDeviceTotalMem"));
  totalBytes = bytes;
  LLMC_TRY_ASSIGN(int capability, capabilityOf(driver, ordinal));
  modules = std::make_unique<Modules>(driver, device, capability);
  LLMC_TRY(driver.check(
      driver.cuCtxGetStreamPriorityRange(&leastPriority, &greatestPriority),
      "cuCtxGetStreamPriorityRange"));
  LLMC_TRY_ASSIGN(chain, makeStream(0));
  LLMC_TRY_ASSIGN(aside, makeStream(0));
  LLMC_TRY_ASSIGN(fork, makeEvent(CU_EVENT_DISABLE_TIMING));
  for (CUevent &event : ends) {
    LLMC_TRY_ASSIGN(event, makeEvent(CU_EVENT_DISABLE_TIMING));
  }
  LLMC_TRY_ASSIGN(Arena arena,
                  reserve(mostMarks * sizeof(uint32_t), MemoryKind::host));
  marks = reinterpret_cast<uint32_t *>(arena.base);
  LLMC_TRY(
      driver.check(driver.cuMemHostGetDevicePointer(&marksOnDevice, marks, 0),
                   "cuMemHostGetDevicePointer"));
  thread = std::thread([this] { work(); });
  return Status::success();
}

//===----------------------------------------------------------------------===//
// At load
//===----------------------------------------------------------------------===//

uint64_t CudaDevice::memoryBytes() const { return totalBytes; }

/// Arenas begin as zeros, as memory of a processor does.
Result<Arena> CudaDevice::reserve(uint64_t bytes, MemoryKind kind) {
  LLMC_TRY(makeCurrent());
  std::string what = fmt::format(
      "expected {} bytes of {} memory for device {}", bytes,
      kind == MemoryKind::device ? "device" : "pinned host", number);
  if (bytes > UINT64_MAX / 2) {
    return makeError(ErrorKind::outOfMemory, what);
  }
  // Nothing at all has no address.
  uint64_t taken = std::max<uint64_t>(bytes, 1);
  if (kind == MemoryKind::host) {
    void *memory = nullptr;
    LLMC_TRY(driver.check(driver.cuMemHostAlloc(&memory, taken,
                                                CU_MEMHOSTALLOC_PORTABLE |
                                                    CU_MEMHOSTALLOC_DEVICEMAP),
                          what));
    hostMemory.push_back(memory);
    std::memset(memory, 0, taken);
    return Arena{static_cast<std::byte *>(memory), bytes};
  }
  CUdeviceptr memory = 0;
  LLMC_TRY(driver.check(driver.cuMemAlloc(&memory, taken), what));
  deviceMemory.push_back(memory);
  LLMC_TRY(driver.check(driver.cuMemsetD8Async(memory, 0, taken, chain),
                        "cuMemsetD8Async"));
  LLMC_TRY(
      driver.check(driver.cuStreamSynchronize(chain), "cuStreamSynchronize"));
  return Arena{reinterpret_cast<std::byte *>(memory), bytes};
}

Result<Stream *> CudaDevice::stream(const StreamShape &shape) {
  LLMC_TRY(makeCurrent());
  auto made = std::make_unique<CudaStream>();
  made->name = shape.name;
  made->number = static_cast<uint32_t>(streams.size());
  made->priority = shape.priority;
  made->use = shape.use;
  made->mostEntries = shape.entries;
  made->mostWords = shape.words;
  if (made->number >= mostMarks) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at most {} streams on device {}",
                                 mostMarks, number));
  }
  LLMC_TRY_ASSIGN(made->joined, makeEvent(CU_EVENT_DISABLE_TIMING));
  LLMC_TRY_ASSIGN(made->handle, makeStream(shape.priority));
  // The thread reads the tape that is not filled, and walks over the streams.
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return issued == unit || fault.dead(); });
  streams.push_back(std::move(made));
  uint64_t entries = 0, words = 0;
  for (const auto &each : streams) {
    entries += each->mostEntries;
    words += each->mostWords;
  }
  for (Tape &each : tapes) {
    each.commands.reserve(entries);
    each.words.reserve(words);
  }
  return static_cast<Stream *>(streams.back().get());
}

Result<Event *> CudaDevice::event(const Origin &origin) {
  LLMC_TRY(makeCurrent());
  auto made = std::make_unique<CudaEvent>();
  made->origin = origin;
  LLMC_TRY_ASSIGN(made->handle, makeEvent(CU_EVENT_DISABLE_TIMING));
  events.push_back(std::move(made));
  return static_cast<Event *>(events.back().get());
}

Result<const void *> CudaDevice::load(const std::string &path) {
  return objects.open(path);
}

Result<const Kernel *> CudaDevice::kernel(const KernelShape &shape) {
  LLMC_TRY(makeCurrent());
  LLMC_TRY_ASSIGN(CudaKernel made, modules->make(shape));
  kernels.push_back(std::make_unique<CudaKernel>(made));
  return static_cast<const Kernel *>(kernels.back().get());
}

Status CudaDevice::prepareMatmul(const LibraryShape &shape, MatmulPlan plan) {
  if (!library) {
    LLMC_TRY_ASSIGN(cublas, Cublas::get());
    LLMC_TRY(cublas->check(cublas->cublasLtCreate(&library), "cublasLtCreate"));
  }
  auto op = std::make_unique<MatmulOp>(*cublas, library, std::move(plan),
                                       shape.workspaceBytes, shape.form);
  LLMC_TRY(op->prepare(shape.name));
  ops.push_back(std::move(op));
  return Status::success();
}

Status CudaDevice::openCudnn() {
  if (convolver) {
    return Status::success();
  }
  LLMC_TRY_ASSIGN(cudnn, Cudnn::get());
  return cudnn->check(cudnn->cudnnCreate(&convolver), "cudnnCreate");
}

Status CudaDevice::prepareAttention(const LibraryShape &shape,
                                    CudnnAttention attention) {
  LLMC_TRY(openCudnn());
  auto op =
      std::make_unique<AttentionOp>(*cudnn, CudnnPlace{convolver, nullptr},
                                    std::move(attention), shape.workspaceBytes);
  LLMC_TRY(op->prepare(shape.name));
  ops.push_back(std::move(op));
  return Status::success();
}

Status CudaDevice::prepareConvolution(const LibraryShape &shape,
                                      CudnnConvolution convolution) {
  LLMC_TRY(openCudnn());
  auto op = std::make_unique<ConvolutionOp>(
      *cudnn, CudnnPlace{convolver, nullptr},
      std::get<ConvolutionShape>(shape.descriptor), std::move(convolution),
      shape.workspaceBytes);
  LLMC_TRY(op->prepare(shape.name));
  ops.push_back(std::move(op));
  return Status::success();
}

Result<const LibraryOp *> CudaDevice::prepare(const LibraryShape &shape) {
  LLMC_TRY_ASSIGN(LibraryPlan plan, planLibrary(shape));
  LLMC_TRY(makeCurrent());
  if (auto *matmul = std::get_if<MatmulPlan>(&plan)) {
    LLMC_TRY(prepareMatmul(shape, std::move(*matmul)));
  } else if (auto *convolution = std::get_if<CudnnConvolution>(&plan)) {
    LLMC_TRY(prepareConvolution(shape, std::move(*convolution)));
  } else {
    LLMC_TRY(
        prepareAttention(shape, std::get<CudnnAttention>(std::move(plan))));
  }
  return static_cast<const LibraryOp *>(ops.back().get());
}

Result<Repeat *> CudaDevice::repeat(std::vector<Stream *> given) {
  LLMC_TRY(makeCurrent());
  auto &made = *repeats.emplace_back(std::make_unique<CudaRepeat>());
  for (Stream *stream : given) {
    made.streams.push_back(static_cast<CudaStream *>(stream));
    LLMC_TRY_ASSIGN(CUevent event, makeEvent(CU_EVENT_DISABLE_TIMING));
    made.reached.push_back(event);
  }
  LLMC_TRY_ASSIGN(Arena arena, reserve(1, MemoryKind::host));
  made.flag = reinterpret_cast<uint8_t *>(arena.base);
  return static_cast<Repeat *>(&made);
}

Result<Gate *> CudaDevice::gate() {
  gates.push_back(std::make_unique<CudaGate>());
  return static_cast<Gate *>(gates.back().get());
}

/// On a stream of its own: a thread that captures does not see it.
Status CudaDevice::readAside(void *to, const void *from, uint64_t bytes) {
  LLMC_TRY(makeCurrent());
  LLMC_TRY(driver.check(
      driver.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to),
                           reinterpret_cast<CUdeviceptr>(from), bytes, aside),
      "cuMemcpyAsync"));
  return driver.check(driver.cuStreamSynchronize(aside), "cuStreamSynchronize");
}

//===----------------------------------------------------------------------===//
// In a step
//===----------------------------------------------------------------------===//

static CudaStream &ownStream(Stream &stream) {
  return static_cast<CudaStream &>(stream);
}

Command *CudaDevice::push(CudaStream &stream, uint32_t words,
                          const Origin &origin) {
  if (fault.dead() || (!hasTape && !takeTape())) {
    return nullptr;
  }
  if (stream.entries == stream.mostEntries ||
      stream.mostWords - stream.words < words) {
    fault.fail(makeError(
        ErrorKind::mismatch,
        fmt::format("expected at most {} entries and {} words in one step in "
                    "stream '{}' of device {}, got more at '{}'",
                    stream.mostEntries, stream.mostWords, stream.name, number,
                    origin.name)));
    return nullptr;
  }
  ++stream.entries;
  stream.words += words;
  Tape &own = tape();
  Command &command = own.commands.emplace_back();
  command.stream = &stream;
  command.origin = &origin;
  command.firstWord = own.words.size();
  own.words.resize(own.words.size() + words);
  return &command;
}

void CudaDevice::launch(Stream &stream, const Launch &launch,
                        const Origin &origin) {
  Command *command =
      push(ownStream(stream), launch.numBuffers + launch.numScalars, origin);
  if (!command) {
    return;
  }
  command->work =
      LaunchCommand{static_cast<const CudaKernel *>(launch.kernel),
                    launch.numBuffers, launch.numScalars, launch.scratch};
  uint64_t *words = wordsOf(*command);
  if (launch.numBuffers) {
    std::memcpy(words, launch.buffers, launch.numBuffers * sizeof(uint64_t));
  }
  if (launch.numScalars) {
    std::memcpy(words + launch.numBuffers, launch.scalars,
                launch.numScalars * sizeof(uint64_t));
  }
}

void CudaDevice::call(Stream &stream, const LibraryOp &op, void *const *buffers,
                      uint32_t numBuffers, void *workspace,
                      const Origin &origin) {
  if (Command *command = push(ownStream(stream), numBuffers, origin)) {
    command->work =
        CallCommand{static_cast<const PreparedOp *>(&op), workspace};
    std::memcpy(wordsOf(*command), buffers, numBuffers * sizeof(uint64_t));
  }
}

void CudaDevice::copy(Stream &stream, void *to, const void *from,
                      const CopyBox &box, const Origin &origin) {
  if (Command *command = push(ownStream(stream), 0, origin)) {
    command->work = CopyCommand{to, from, &box};
  }
}

void CudaDevice::fill(Stream &stream, void *to, uint64_t pattern, unsigned size,
                      const CopyBox &box, const Origin &origin) {
  if (Command *command = push(ownStream(stream), 0, origin)) {
    command->work = FillCommand{to, pattern, size, &box};
  }
}

void CudaDevice::record(Stream &stream, Event &event, const Origin &origin) {
  auto &own = static_cast<CudaEvent &>(event);
  if (Command *command = push(ownStream(stream), 0, origin)) {
    own.isOfCommunication = ownStream(stream).use == StreamUse::communication;
    own.unit = unit;
    command->work = RecordCommand{&own};
  }
}

void CudaDevice::wait(Stream &stream, Event &event, const Origin &origin) {
  auto &own = static_cast<CudaEvent &>(event);
  if (own.unit != unit) {
    return; // Never recorded, or in a unit that has ended before this one.
  }
  if (Command *command = push(ownStream(stream), 0, origin)) {
    command->work =
        WaitCommand{&own, own.isOfCommunication &&
                              ownStream(stream).use == StreamUse::compute};
  }
}

void CudaDevice::waitFor(Stream &stream, Gate &gate, uint64_t value,
                         const Origin &origin) {
  if (Command *command = push(ownStream(stream), 0, origin)) {
    command->work = GateCommand{static_cast<CudaGate *>(&gate), value};
  }
}

void CudaDevice::beginRepeat(Repeat &repeat, const void *flag,
                             const Origin &origin) {
  auto &own = static_cast<CudaRepeat &>(repeat);
  if (Command *command = push(*own.streams.front(), 0, origin)) {
    command->work = RepeatCommand{&own, flag, 0};
    openRepeat = tape().commands.size() - 1;
    askHost();
  }
}

void CudaDevice::endRepeat(Repeat &repeat, const Origin &origin) {
  auto &own = static_cast<CudaRepeat &>(repeat);
  Command *command = push(*own.streams.front(), 0, origin);
  if (command && openRepeat) {
    command->work = RepeatEndCommand{};
    std::get<RepeatCommand>(tape().commands[*openRepeat].work).end =
        tape().commands.size() - 1;
  }
  openRepeat.reset();
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// A unit may be issued for as long as it runs. So it is waited for here, and
/// not where it is posted: the host comes here when the unit has ended, but for
/// work outside of steps.
bool CudaDevice::takeTape() {
  std::unique_lock<std::mutex> lock(mutex);
  auto isFree = [this] { return issued + numTapes > unit || fault.dead(); };
  while (!changed.wait_for(lock, std::chrono::milliseconds(5), isFree)) {
    lock.unlock();
    fault.fail(fault.askJob());
    lock.lock();
  }
  if (fault.dead()) {
    return false;
  }
  tape().clear();
  hasTape = true;
  return true;
}

void CudaDevice::post(Unit given) {
  given.hasTape = hasTape;
  std::lock_guard<std::mutex> lock(mutex);
  queue.push_back(given);
  unit = given.number + 1;
  hasTape = asksHost = false;
  for (auto &stream : streams) {
    stream->entries = stream->words = 0;
  }
  changed.notify_all();
}

const Tape &CudaDevice::tapeOf(const Unit &given) const {
  static const Tape none;
  return given.hasTape ? tapes[given.number % numTapes] : none;
}

Result<bool> CudaDevice::hasEnded(uint64_t wanted) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (issued <= wanted) {
      return false;
    }
  }
  LLMC_TRY(makeCurrent());
  CUresult result = driver.cuEventQuery(ends[wanted % numEnds]);
  if (result == CUDA_ERROR_NOT_READY) {
    return false;
  }
  LLMC_TRY(driver.check(
      result, fmt::format("device {} failed while it ran a step", number)));
  return true;
}

void CudaDevice::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stops || !queue.empty(); });
    if (queue.empty()) {
      return;
    }
    Unit next = queue.front();
    lock.unlock();
    if (!fault.dead()) {
      fault.fail(issue(next));
    }
    lock.lock();
    queue.pop_front();
    issued = next.number + 1;
    changed.notify_all();
  }
}

} // namespace llmc::rt::cuda
