//===- KernelObject.h - Compiled kernels on CPU ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is a function of a shared object, called with a range of its rows:
// each thread of the device gets one contiguous range and scratch of its own.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_KERNELOBJECT_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_KERNELOBJECT_H

#include "llmc/Runtime/Device/Device.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"

#include <string>
#include <vector>

namespace llmc::rt::cpu {

class CpuKernel final : public Kernel {
public:
  CpuKernel(KernelShape shape, LlmcKernelFn function)
      : shape(std::move(shape)), function(function) {}

  int tickets(int threads) const;
  /// `words` are the buffers, then the scalars.
  void run(const uint64_t *words, uint32_t numBuffers, void *scratch,
           int ticket, int tickets) const;

private:
  int64_t blocks() const;

  KernelShape shape;
  LlmcKernelFn function;
};

/// The shared objects that a world has loaded, once for all its devices.
class KernelLibrary {
public:
  KernelLibrary() = default;
  KernelLibrary(const KernelLibrary &) = delete;
  ~KernelLibrary();

  /// Returns the object's manifest. An object that is loaded already is not
  /// loaded again.
  Result<const void *> load(const std::string &path);
  Result<LlmcKernelFn> find(const std::string &name) const;

private:
  struct Object {
    std::string path;
    void *handle;
  };
  std::vector<Object> objects;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_KERNELOBJECT_H
