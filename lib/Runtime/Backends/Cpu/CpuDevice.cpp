//===- CpuDevice.cpp - A virtual device -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory comes from mmap, between two pages that cannot be touched: an access
// that leaves an arena stops at once instead of changing a neighbour.
// Tested by test/Runtime/Device/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CpuDevice.h"

#include <fmt/format.h>

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace llmc::rt::cpu {

/// From here on an arena asks for huge pages.
constexpr uint64_t hugePageBytes = uint64_t(2) << 20;

CpuDevice::~CpuDevice() {
  for (const Mapping &mapping : mappings) {
    munmap(mapping.base, mapping.bytes);
  }
}

uint64_t CpuDevice::memoryBytes() const {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Memory that the kernel would hand out and then kill for is refused instead.
Result<Arena> CpuDevice::reserve(uint64_t bytes, MemoryKind kind) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Status full = makeError(
      ErrorKind::outOfMemory,
      fmt::format("expected {} bytes of memory for device {}", bytes, number));
  if (bytes > UINT64_MAX / 2) {
    return full;
  }
  if (kind == MemoryKind::device) {
    if (reserved + bytes > memoryBytes()) {
      return makeError(
          ErrorKind::outOfMemory,
          fmt::format("expected at most {} bytes for the devices of this "
                      "machine, got {}",
                      memoryBytes(), reserved + bytes));
    }
    reserved += bytes;
  }
  uint64_t inner = (bytes + page - 1) / page * page;
  void *base = mmap(nullptr, inner + 2 * page, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return full;
  }
  mappings.push_back({base, inner + 2 * page});
  auto *arena = static_cast<std::byte *>(base) + page;
  if (inner && mprotect(arena, inner, PROT_READ | PROT_WRITE) != 0) {
    return full;
  }
  if (bytes >= hugePageBytes) {
    madvise(arena, inner, MADV_HUGEPAGE);
  }
  return Arena{arena, bytes};
}

Result<Stream *> CpuDevice::stream(const StreamShape &shape) {
  return static_cast<Stream *>(pool.addStream(shape, number, threads));
}

Result<Event *> CpuDevice::event(const Origin &origin) {
  events.push_back(std::make_unique<CpuEvent>());
  events.back()->origin = origin;
  return static_cast<Event *>(events.back().get());
}

Result<const void *> CpuDevice::load(const std::string &path) {
  return library.load(path);
}

/// The function of the object itself; the other forms are for other devices.
static Result<std::string> findObjectCode(const KernelShape &shape) {
  if (shape.threadsPerBlock != 1 || shape.sharedBytes != 0) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected kernel '{}' to have blocks of one "
                                 "thread without shared memory on a "
                                 "processor, got {} threads and {} bytes",
                                 shape.name, shape.threadsPerBlock,
                                 shape.sharedBytes));
  }
  for (const KernelImageView &image : shape.images) {
    if (image.format == KernelFormat::object) {
      return image.symbol;
    }
  }
  return makeError(
      ErrorKind::mismatch,
      fmt::format("expected an image of format object for kernel '{}', got {}",
                  shape.name,
                  shape.images.empty() ? "none"
                                       : nameOf(shape.images[0].format)));
}

Result<const Kernel *> CpuDevice::kernel(const KernelShape &shape) {
  LLMC_TRY_ASSIGN(std::string symbol, findObjectCode(shape));
  LLMC_TRY_ASSIGN(LlmcKernelFn function, library.find(symbol));
  kernels.push_back(std::make_unique<CpuKernel>(shape, function));
  return static_cast<const Kernel *>(kernels.back().get());
}

Result<const LibraryOp *> CpuDevice::prepare(const LibraryShape &shape) {
  LLMC_TRY_ASSIGN(auto op, CpuLibraryOp::make(shape));
  if (op->workspaceBytes() > shape.workspaceBytes) {
    return makeError(
               ErrorKind::mismatch,
               fmt::format("expected {} bytes of workspace or less for {} '{}' "
                           "with {} threads, got {} from the library",
                           shape.workspaceBytes, nameOf(shape.descriptor),
                           shape.name, shape.threads, op->workspaceBytes()))
        .withHint("compile the plan on this machine");
  }
  libraryOps.push_back(std::move(op));
  return static_cast<const LibraryOp *>(libraryOps.back().get());
}

static CpuStream &own(Stream &stream) {
  return static_cast<CpuStream &>(stream);
}

Result<Repeat *> CpuDevice::repeat(std::vector<Stream *> streams) {
  repeats.push_back(std::make_unique<CpuRepeat>());
  for (Stream *stream : streams) {
    repeats.back()->streams.push_back(&own(*stream));
  }
  repeats.back()->begins.resize(streams.size());
  return static_cast<Repeat *>(repeats.back().get());
}

Result<Gate *> CpuDevice::gate() {
  gates.push_back(std::make_unique<CpuGate>(pool));
  return static_cast<Gate *>(gates.back().get());
}

Status CpuDevice::readAside(void *to, const void *from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return Status::success();
}

void CpuDevice::launch(Stream &stream, const Launch &launch,
                       const Origin &origin) {
  Entry *entry =
      pool.push(own(stream), launch.numBuffers + launch.numScalars, origin);
  if (!entry) {
    return;
  }
  entry->work = LaunchEntry{static_cast<const CpuKernel *>(launch.kernel),
                            launch.numBuffers, launch.scratch};
  uint64_t *words = entry->words;
  std::memcpy(words, launch.buffers, launch.numBuffers * sizeof(uint64_t));
  if (launch.numScalars) {
    std::memcpy(words + launch.numBuffers, launch.scalars,
                launch.numScalars * sizeof(uint64_t));
  }
}

void CpuDevice::call(Stream &stream, const LibraryOp &op, void *const *buffers,
                     uint32_t numBuffers, void *workspace,
                     const Origin &origin) {
  if (Entry *entry = pool.push(own(stream), numBuffers, origin)) {
    entry->work =
        LibraryEntry{static_cast<const CpuLibraryOp *>(&op), workspace};
    std::memcpy(entry->words, buffers, numBuffers * sizeof(uint64_t));
  }
}

void CpuDevice::copy(Stream &stream, void *to, const void *from,
                     const CopyBox &box, const Origin &origin) {
  if (Entry *entry = pool.push(own(stream), 0, origin)) {
    entry->work = CopyEntry{to, from, &box};
  }
}

void CpuDevice::fill(Stream &stream, void *to, uint64_t pattern, unsigned size,
                     const CopyBox &box, const Origin &origin) {
  if (Entry *entry = pool.push(own(stream), 0, origin)) {
    entry->work = FillEntry{to, pattern, &box, size};
  }
}

void CpuDevice::record(Stream &stream, Event &event, const Origin &origin) {
  auto &counter = static_cast<CpuEvent &>(event);
  counter.isOfCommunication = own(stream).use == StreamUse::communication;
  if (Entry *entry = pool.push(own(stream), 0, origin)) {
    entry->work = RecordEntry{&counter, ++counter.recorded, 0};
  }
}

void CpuDevice::wait(Stream &stream, Event &event, const Origin &origin) {
  auto &counter = static_cast<CpuEvent &>(event);
  if (Entry *entry = pool.push(own(stream), 0, origin)) {
    entry->work = WaitEntry{&counter, counter.recorded,
                            counter.isOfCommunication &&
                                own(stream).use == StreamUse::compute};
  }
}

void CpuDevice::waitFor(Stream &stream, Gate &gate, uint64_t value,
                        const Origin &origin) {
  if (Entry *entry = pool.push(own(stream), 0, origin)) {
    entry->work = GateEntry{static_cast<CpuGate *>(&gate), value};
  }
}

void CpuDevice::beginRepeat(Repeat &repeat, const void *flag,
                            const Origin &origin) {
  pool.pushRepeat(static_cast<CpuRepeat &>(repeat), flag, origin);
}

void CpuDevice::endRepeat(Repeat &repeat, const Origin &origin) {
  pool.pushRepeatEnd(static_cast<CpuRepeat &>(repeat), origin);
}

} // namespace llmc::rt::cpu
