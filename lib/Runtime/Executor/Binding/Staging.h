//===- Staging.h - Device memory seen from the host -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host never follows an address of device memory: what it gives or reads
// travels through a buffer of host memory that each device reserves once.
//
//   device memory   [ ......[== window ==]............. ]
//                        copy ^ |   | v copy
//   host memory             [ buffer ]
//
// Used between steps only: initial values, weights, poison, audits. A buffer of
// its own has who reads beside steps.
//
// Tested by test/Runtime/Executor/OpaqueTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_STAGING_H
#define LLMC_LIB_RUNTIME_EXECUTOR_STAGING_H

#include "llmc/Runtime/Comm/World.h"

#include <chrono>
#include <memory>

namespace llmc::rt::exec {

/// The buffer of one device and the stream of its copies.
class Staging {
public:
  static Result<std::unique_ptr<Staging>>
  make(World &world, Device &device, std::chrono::milliseconds deadline);
  /// One that only takes, beside what the device's streams do.
  static Result<std::unique_ptr<Staging>> makeAside(Device &device);

  /// Of the buffer.
  uint64_t capacity() const { return buffer.bytes; }
  std::byte *base() const { return buffer.base; }

  /// Copies the first `bytes` of the buffer to or from device memory at
  /// `place`, and waits.
  Status give(std::byte *place, uint64_t bytes);
  Status take(const std::byte *place, uint64_t bytes);
  /// Sets every byte of device memory at `place`, and waits.
  Status fill(std::byte *place, uint8_t value, uint64_t bytes);

private:
  Staging(World *world, Device &device, std::chrono::milliseconds deadline)
      : world(world), device(device), deadline(deadline) {}

  World *world; ///< Null: it takes beside steps.
  Device &device;
  std::chrono::milliseconds deadline;
  Stream *stream = nullptr;
  Arena buffer;
  CopyBox box; ///< Of the copy or fill under way.
};

enum class WindowUse : uint8_t { read, write };

/// A piece of device memory of which the part in use lies in the buffer.
/// Accesses in rising order cost one copy for each bufferful.
class Window {
public:
  /// Over `bytes` at `base` of the device's memory.
  Window(Staging &staging, std::byte *base, uint64_t bytes, WindowUse use)
      : staging(staging), base(base), bytes(bytes), use(use) {}

  /// Where `count` bytes from `offset` on lie until the next call; at most
  /// `capacity` of them. Assumes that they are within the window.
  Result<std::byte *> at(uint64_t offset, uint64_t count);
  /// Gives the device what was written. Nothing is given without it.
  Status flush();

private:
  Staging &staging;
  std::byte *base;
  uint64_t bytes;
  WindowUse use;
  uint64_t begin = 0, held = 0; ///< What lies in the buffer.
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_STAGING_H
