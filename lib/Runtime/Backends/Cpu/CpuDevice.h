//===- CpuDevice.h - A virtual device -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owns its arenas, events and ops of libraries; its streams are the pool's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CPUDEVICE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CPUDEVICE_H

#include "KernelObject.h"
#include "LibraryOp.h"
#include "Pool.h"

namespace llmc::rt::cpu {

class CpuDevice final : public Device {
public:
  /// `reserved` counts the device memory of all devices of the world.
  CpuDevice(Pool &pool, KernelLibrary &library, uint64_t &reserved, int number,
            int threads)
      : pool(pool), library(library), reserved(reserved), number(number),
        threads(threads) {}
  ~CpuDevice() override;

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

private:
  struct Mapping {
    void *base;
    size_t bytes;
  };

  Pool &pool;
  KernelLibrary &library;
  uint64_t &reserved;
  int number;
  int threads;
  std::vector<Mapping> mappings;
  std::vector<std::unique_ptr<CpuEvent>> events;
  std::vector<std::unique_ptr<CpuKernel>> kernels;
  std::vector<std::unique_ptr<CpuLibraryOp>> libraryOps;
  std::vector<std::unique_ptr<CpuRepeat>> repeats;
  std::vector<std::unique_ptr<CpuGate>> gates;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CPUDEVICE_H
