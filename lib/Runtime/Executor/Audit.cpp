//===- Audit.cpp - Memory of devices, and what lies beside buffers --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/SessionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Audit.h"

#include <algorithm>

namespace llmc::rt::exec {

Result<std::vector<DeviceMemory>>
gatherMemory(const plan::Plan &plan, const std::vector<LocalDevice> &devices,
             const Peers &peers) {
  std::vector<DeviceMemory> own, gathered;
  for (const LocalDevice &device : devices) {
    own.push_back({static_cast<uint64_t>(plan.arenas[device.stage]),
                   device.arena.bytes, device.device->memoryBytes()});
  }
  LLMC_TRY_ASSIGN(auto all, peers.gather(own));
  for (const std::vector<DeviceMemory> &each : all) {
    gathered.insert(gathered.end(), each.begin(), each.end());
  }
  return gathered;
}

/// For each byte of the arena whether it lies in some buffer.
static std::vector<bool> markBuffers(const plan::Plan &plan,
                                     const LocalDevice &device) {
  std::vector<bool> inside(device.arena.bytes);
  for (const plan::Buffer &buffer : plan.buffers) {
    const plan::Frame &frame = plan.frames[buffer.frame];
    if (!plan::hasStage(frame.stages, device.stage)) {
      continue;
    }
    for (int32_t slot = 0; slot < frame.slots; ++slot) {
      auto begin =
          inside.begin() + (frame.offset + slot * frame.size + buffer.offset);
      std::fill(begin, begin + buffer.bytes, true);
    }
  }
  return inside;
}

Result<MemoryAudit> auditMemory(const plan::Plan &plan,
                                std::vector<LocalDevice> &devices,
                                uint8_t poison) {
  MemoryAudit audit;
  for (LocalDevice &device : devices) {
    std::vector<bool> inside = markBuffers(plan, device);
    Window window(*device.staging, device.arena.base, device.arena.bytes,
                  WindowUse::read);
    for (uint64_t i = 0; i < device.arena.bytes; ++i) {
      LLMC_TRY_ASSIGN(const std::byte *byte, window.at(i, 1));
      audit.insideBuffers += inside[i];
      audit.outsideBuffers += !inside[i];
      audit.touchedOutside += !inside[i] && *byte != std::byte(poison);
    }
  }
  return audit;
}

} // namespace llmc::rt::exec
