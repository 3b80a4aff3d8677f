//===- Device.h - What a backend offers the executor ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device owns memory, streams and events, and takes work. The shape is that
// of the CUDA driver API, so that a CUDA backend is a translation and not a
// design; the CPU backend gives every call the same meaning by entries of
// preallocated queues.
//
//   this interface            CUDA driver API               CPU backend
//   reserve                   cuMemAlloc, cuMemHostAlloc    mmap
//   stream                    cuStreamCreateWithPriority    a cursor over a
//   ring event                     cuEventCreate                 a counter load
//   cuModuleLoadData              dlopen launch cuLaunchKernel an entry
//   call                      cublasLtMatmul, cudnnExecute  an entry
//   copy, fill                cuMemcpyAsync, cuMemsetAsync, an entry
//                             2D and 3D with dims
//   record, wait              cuEventRecord,                an entry
//                             cuStreamWaitEvent
//   beginRepeat, endRepeat    the same calls for each trip, an entry, to which
//                             while a thread reads the flag cursors go back
//   waitFor                   cuStreamWaitValue64           an entry
//   readAside                 cuMemcpyAsync on a stream     memcpy
//                             of its own
//
// Two phases, and no way back: at load everything is reserved (the calls that
// return a Status or a Result); in a step work is enqueued (the calls that
// return nothing). An enqueue returns at once, allocates nothing and never
// waits; what goes wrong is kept and reported by `World::drain`, as a sticky
// error is by CUDA.
//
// Tested by the conformance suite in test/Runtime/Device.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_DEVICE_DEVICE_H
#define LLMC_RUNTIME_DEVICE_DEVICE_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/KernelFormat.h"
#include "llmc/Runtime/Base/Library.h"
#include "llmc/Runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

/// How a report calls an instruction. Whoever loads the plan owns it; it
/// outlives the world.
struct Origin {
  std::string name;
  std::string location;
  uint64_t bytes = 0; ///< Of all operands.
};

/// The host follows addresses of `host` memory; those of `device` memory are
/// numbers to it, on which it computes offsets and no more. What the host gives
/// or reads travels by `Device::copy`.
enum class MemoryKind : uint8_t { device, host };

/// One piece of memory, reserved once and given back with the device.
struct Arena {
  std::byte *base = nullptr;
  uint64_t bytes = 0;
};

/// An ordered list of work. Entries of one stream run in the order in which
/// they were enqueued; only events order two streams.
class Stream {
public:
  virtual ~Stream() = default;
};

/// A mark that one stream sets and others wait for. A wait refers to the last
/// record that was enqueued before it, and passes when there is none: an event
/// is initially set.
class Event {
public:
  virtual ~Event() = default;
};

/// Where streams wait for the host: a number, and what waits for more than it
/// stands. At first nothing does. Equivalent to a word of host memory for
/// cuStreamWaitValue64.
class Gate {
public:
  virtual ~Gate() = default;

  /// What waits for `value` or less goes on. Any thread may call it; less than
  /// before is given only while nothing runs.
  virtual void open(uint64_t value) = 0;
  /// Seconds for which some stream stood here, since the gate was made.
  virtual double stoodSeconds() const = 0;
};

/// A function of a loaded kernel object; equivalent to a CUfunction.
class Kernel {
public:
  virtual ~Kernel() = default;
};

/// An op of a library made ready at load; equivalent to a cuBLASLt plan. It may
/// keep what a call works with, so all calls of it are on one stream.
class LibraryOp {
public:
  virtual ~LibraryOp() = default;
};

/// A part of a step that runs again and again, made ready at load for the
/// streams that take part in it.
class Repeat {
public:
  virtual ~Repeat() = default;
};

/// What runs on a stream: what waits for what is reported by it.
enum class StreamUse : uint8_t { compute, copy, communication };

/// What a stream is made for. The queue never grows: `entries` and `words`
/// bound what is enqueued in one step. A launch takes a word for each
/// buffer and scalar, a call of a library one for each buffer, a collective two
/// for each buffer and one for counts, an exchange five for each part, all else
/// none. A repeat is two entries of each of its streams, and what it repeats is
/// there once.
struct StreamShape {
  std::string name;
  int priority = 0; ///< Ready heads of greater priority run first.
  uint32_t entries = 0;
  uint32_t words = 0;
  StreamUse use = StreamUse::compute;
};

/// One form of a kernel's code.
struct KernelImageView {
  KernelFormat format = KernelFormat::object;
  std::string architecture; ///< "sm_90"; "" where it does not matter.
  std::string symbol;       ///< The function's name in the image.
  std::string_view data;    ///< Read while the kernel is made; not of `object`.
};

/// What the manifest says of how a kernel is launched.
struct KernelShape {
  std::string name;
  int64_t rows =
      1; ///< Extent along which it may be sliced; 1 where it may not.
  uint64_t scratchBytes = 0;    ///< Of each slice.
  int64_t rowsPerBlock = 1;     ///< Slices begin at a multiple of it.
  uint32_t threadsPerBlock = 1; ///< That share a block of rows.
  uint32_t sharedBytes = 0;     ///< Memory of such a block.
  std::vector<KernelImageView> images;
};

/// What a library is made ready for.
struct LibraryShape {
  std::string name; ///< In errors; no part of what is computed.
  LibraryDescriptor descriptor;
  int threads = 1;             ///< That the work is cut for.
  uint64_t workspaceBytes = 0; ///< That the plan reserved.
  uint32_t form = 0;           ///< By number, of `Backend::libraryForms`.
};

/// One of the dims of a copy; strides in bytes.
struct CopyDim {
  uint64_t extent = 1;
  int64_t to = 0, from = 0;
};

/// The static half of a copy or fill: `bytes` that lie side by side at both
/// ends, repeated along `dims`, outermost first. Made at load, kept by the
/// caller for as long as the world lives. One entry, whatever its size:
///
///   a [4, 6] of f32 out of a [4, 12]:  24 bytes, along {4, to 24, from 48}
struct CopyBox {
  uint64_t bytes = 0;
  std::vector<CopyDim> dims;
};

/// One launch. Arrays are copied into the queue. `scratch` has the kernel's
/// scratch, rounded up to 64 bytes, for each thread of the device.
struct Launch {
  const Kernel *kernel = nullptr;
  void *const *buffers = nullptr;
  uint32_t numBuffers = 0;
  const int64_t *scalars = nullptr;
  uint32_t numScalars = 0;
  void *scratch = nullptr;
};

class Device {
public:
  virtual ~Device() = default;

  /// Position among the devices of the world.
  virtual int index() const = 0;
  /// Of the memory that it reserves from; virtual devices of one machine share
  /// it.
  virtual uint64_t memoryBytes() const = 0;

  // At load.
  virtual Result<Arena> reserve(uint64_t bytes, MemoryKind kind) = 0;
  virtual Result<Stream *> stream(const StreamShape &shape) = 0;
  virtual Result<Event *> event(const Origin &origin) = 0;
  /// Loads the code at `path` and returns the manifest in it, or null. Code is
  /// trusted: the caller has checked whose it is.
  virtual Result<const void *> load(const std::string &path) = 0;
  /// A function of the loaded objects, from the image that suits the device
  /// best. Error (15) where there is none, or its launches do not fit.
  virtual Result<const Kernel *> kernel(const KernelShape &shape) = 0;
  /// Error (15) where neither the library nor the device's own loops have the
  /// descriptor, or the library wants more workspace than is reserved.
  virtual Result<const LibraryOp *> prepare(const LibraryShape &shape) = 0;

  virtual Result<Repeat *> repeat(std::vector<Stream *> streams) = 0;
  virtual Result<Gate *> gate() = 0;

  // Beside steps.
  /// Copies `bytes` from device memory to host memory, both of this device,
  /// beside what its streams do, and waits. Any thread may call it; no stream
  /// writes at either place meanwhile.
  virtual Status readAside(void *to, const void *from, uint64_t bytes) = 0;

  // In a step.
  virtual void launch(Stream &, const Launch &, const Origin &) = 0;
  /// `buffers` has the operands in the descriptor's order; it is copied into
  /// the queue. `workspace` has the bytes that the shape reserved.
  virtual void call(Stream &, const LibraryOp &, void *const *buffers,
                    uint32_t numBuffers, void *workspace, const Origin &) = 0;
  /// Between any two of what this device reserved, of both kinds; the two ends
  /// do not overlap.
  virtual void copy(Stream &, void *to, const void *from, const CopyBox &,
                    const Origin &) = 0;
  /// Repeats the `size` (1, 2, 4 or 8) low bytes of `pattern` in each run of
  /// the box, whose strides of `from` are not used.
  virtual void fill(Stream &, void *to, uint64_t pattern, unsigned size,
                    const CopyBox &, const Origin &) = 0;
  virtual void record(Stream &, Event &, const Origin &) = 0;
  virtual void wait(Stream &, Event &, const Origin &) = 0;
  /// The stream stands until the gate is open to `value`. A backend that hands
  /// a step to its device as a whole lets all of the step stand.
  virtual void waitFor(Stream &, Gate &, uint64_t value, const Origin &) = 0;
  /// What is enqueued until `endRepeat` on the repeat's streams runs as long as
  /// the boolean at `flag` holds, which is read when all these streams have
  /// come here. A record in it is the latest one for waits in it; for those
  /// after it the record has run when the repeat has ended, also where it never
  /// ran. All devices that meet in its collectives run it equally often, else
  /// an error (15) names two that do not; those of different processes wait for
  /// each other until the deadline. It has no exchanges, and none of
  /// these is in another; a communicator of its collectives is used on one
  /// stream of a device.
  virtual void beginRepeat(Repeat &, const void *flag, const Origin &) = 0;
  virtual void endRepeat(Repeat &, const Origin &) = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_DEVICE_H
