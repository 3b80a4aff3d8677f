//===- Staging.cpp - Device memory seen from the host ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include <algorithm>

namespace llmc::rt::exec {

/// A multiple of every element's size. Large enough that copies, not their
/// number, cost; small beside the arenas.
constexpr uint64_t bufferBytes = uint64_t(4) << 20;
/// Of those that read aside, which stay in a processor's cache.
constexpr uint64_t asideBytes = uint64_t(1) << 20;

static const Origin givesOrigin{"give values to a device", ""};
static const Origin takesOrigin{"take values from a device", ""};
static const Origin fillsOrigin{"fill device memory", ""};

Result<std::unique_ptr<Staging>>
Staging::make(World &world, Device &device,
              std::chrono::milliseconds deadline) {
  std::unique_ptr<Staging> staging(new Staging(&world, device, deadline));
  LLMC_TRY_ASSIGN(staging->stream, device.stream({"staging", 0, 1, 0}));
  LLMC_TRY_ASSIGN(staging->buffer,
                  device.reserve(bufferBytes, MemoryKind::host));
  return std::move(staging);
}

Result<std::unique_ptr<Staging>> Staging::makeAside(Device &device) {
  std::unique_ptr<Staging> staging(new Staging(nullptr, device, {}));
  LLMC_TRY_ASSIGN(staging->buffer,
                  device.reserve(asideBytes, MemoryKind::host));
  return std::move(staging);
}

Status Staging::give(std::byte *place, uint64_t bytes) {
  box.bytes = bytes;
  device.copy(*stream, place, buffer.base, box, givesOrigin);
  return world->drain(deadline);
}

Status Staging::take(const std::byte *place, uint64_t bytes) {
  if (!world) {
    return device.readAside(buffer.base, place, bytes);
  }
  box.bytes = bytes;
  device.copy(*stream, buffer.base, place, box, takesOrigin);
  return world->drain(deadline);
}

Status Staging::fill(std::byte *place, uint8_t value, uint64_t bytes) {
  box.bytes = bytes;
  device.fill(*stream, place, value, 1, box, fillsOrigin);
  return world->drain(deadline);
}

Result<std::byte *> Window::at(uint64_t offset, uint64_t count) {
  if (offset < begin || offset + count > begin + held) {
    LLMC_TRY(flush());
    begin = offset;
    held = std::min(bytes - offset, staging.capacity());
    LLMC_TRY(staging.take(base + begin, held));
  }
  return staging.base() + (offset - begin);
}

Status Window::flush() {
  return use == WindowUse::write && held ? staging.give(base + begin, held)
                                         : Status::success();
}

} // namespace llmc::rt::exec
