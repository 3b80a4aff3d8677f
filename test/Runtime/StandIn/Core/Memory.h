//===- Memory.h - Memory of devices, and host memory they know ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device has a range of addresses that nobody can touch, and a second range
// of the same size, the view, through which the stand-in's own work goes.
// An allocation ends at the end of a page, up to 256 bytes, and the page after
// it is never mapped; addresses are used again as late as possible. So a kernel
// that leaves its memory, or uses it late, faults in the view, and a host that
// follows a device address faults in the first range.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_MEMORY_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace llmc::standin {

struct Context;

struct Allocation {
  uint64_t address = 0, bytes = 0;
  int device = 0;
  Context *context = nullptr;
  bool live = true;
  unsigned pending = 0; // submitted work that uses it and is not done
};
using AllocationRef = std::shared_ptr<Allocation>;

/// Host memory that a device reads and writes by itself.
struct HostRange {
  uint64_t address = 0, bytes = 0;
  unsigned pending = 0;    // submitted copies that use it and are not done
  bool registered = false; // by cuMemHostRegister
  unsigned flags = 0;
  Context *context = nullptr;
};

class Memory {
public:
  /// That of the process; guarded by the lock of the scheduler.
  static Memory &get();

  int numDevices() const { return devices.size(); }
  /// Which of the machine's devices it is: CUDA_VISIBLE_DEVICES chooses.
  int physical(int device) const { return visible[device]; }
  uint64_t totalBytes() const { return total; }
  uint64_t freeBytes(int device) const { return total - devices[device].used; }

  /// Null where the device has no such memory left. Filled with 0xff, up to
  /// LLMC_STANDIN_POISON bytes.
  AllocationRef allocate(Context *context, int device, uint64_t bytes);
  void free(const AllocationRef &allocation);

  /// The live allocation that contains `address`, or null.
  AllocationRef find(uint64_t address) const;
  /// As find, where all `bytes` lie in it.
  AllocationRef find(uint64_t address, uint64_t bytes) const;

  /// The device whose addresses contain `address`, or -1. No lock is needed.
  int deviceOf(uint64_t address) const {
    return address - base < numDevices() * span ? (address - base) / span : -1;
  }
  /// The device in whose view `address` lies, or -1. No lock is needed.
  int viewOf(uint64_t address) const {
    return deviceOf(address - (view - base));
  }
  /// Where the stand-in's own work finds a device address.
  char *translate(uint64_t address) const {
    return reinterpret_cast<char *>(address + (view - base));
  }
  uint64_t backwards(uint64_t viewed) const { return viewed - (view - base); }

  HostRange *allocateHost(Context *context, uint64_t bytes, unsigned flags);
  /// False where part of it is known already.
  bool registerHost(Context *context, uint64_t address, uint64_t bytes,
                    unsigned flags);
  /// The range that contains `address`, or null.
  HostRange *findHost(uint64_t address);
  bool isPinned(uint64_t address, uint64_t bytes);
  void freeHost(const HostRange &range);

  /// Forgets what `context` has left.
  void freeAll(Context *context);

private:
  struct Device {
    uint64_t cursor = 0, used = 0;
    std::map<uint64_t, AllocationRef> allocations; // by address
  };

  Memory();
  uint64_t findGap(Device &device, uint64_t start, uint64_t bytes);

  std::vector<int> visible;
  uint64_t total, span, base = 0, view = 0, poison;
  std::vector<Device> devices;
  std::map<uint64_t, HostRange> hostRanges;
};

/// Ends the process with a sentence where somebody follows an address that is
/// not his: called once, by cuInit.
void watchFaults();

/// What runs on this thread, for the sentences of `watchFaults`.
struct Activity {
  const char *kernel = nullptr;
  uint32_t block = 0, thread = 0;
};
Activity &activity();

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_MEMORY_H
