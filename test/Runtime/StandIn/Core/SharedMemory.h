//===- SharedMemory.h - Memory of a block, and who touched it -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each byte the last thread that wrote it and the threads that read it
// since the last barrier of the block are known. Lanes of a warp are threads
// like any others, since they may run in any order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_SHAREDMEMORY_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_SHAREDMEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::standin {

class SharedMemory {
public:
  SharedMemory();

  /// For a block with `bytes`, which begin as anything.
  void begin(uint32_t bytes, uint64_t noise);
  void *data() const { return start; }
  void passBarrier() { ++epoch; }

  /// Says what is wrong with an access, or "".
  std::string touch(uint32_t thread, uint32_t site, const void *address,
                    uint32_t bytes, bool write);

private:
  static constexpr uint16_t kNobody = 0xffff, kSeveral = 0xfffe;
  struct Byte {
    uint32_t epoch; // of what follows; else nobody has touched it
    uint16_t writer, reader;
    uint32_t writeSite, readSite;
  };

  char *end = nullptr; // the page after it faults
  char *start = nullptr;
  uint32_t size = 0, epoch = 0;
  std::vector<Byte> bytesOf;
};

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_SHAREDMEMORY_H
