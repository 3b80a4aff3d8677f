//===- KernelObject.cpp - Compiled kernels on CPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   rows 10, tickets 3:  [0, 4) [4, 7) [7, 10), scratch at 0, s, 2 s
//   in blocks of 4:      [0, 4) [4, 8) [8, 10)
//
//===----------------------------------------------------------------------===//

#include "KernelObject.h"

#include "Entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>

namespace llmc::rt::cpu {

int64_t CpuKernel::blocks() const {
  return shape.rows / shape.rowsPerBlock +
         (shape.rows % shape.rowsPerBlock > 0);
}

int CpuKernel::tickets(int threads) const {
  return static_cast<int>(std::clamp<int64_t>(blocks(), 1, threads));
}

void CpuKernel::run(const uint64_t *words, uint32_t numBuffers, void *scratch,
                    int ticket, int tickets) const {
  Range part = ticketRange(blocks(), ticket, tickets);
  Range rows = {part.begin * shape.rowsPerBlock,
                std::min(part.end * shape.rowsPerBlock, shape.rows)};
  uint64_t scratchBytes = (shape.scratchBytes + 63) / 64 * 64;
  function(reinterpret_cast<void *const *>(words),
           reinterpret_cast<const int64_t *>(words + numBuffers), rows.begin,
           rows.end, static_cast<char *>(scratch) + ticket * scratchBytes);
}

KernelLibrary::~KernelLibrary() {
  for (const Object &object : objects) {
    dlclose(object.handle);
  }
}

Result<const void *> KernelLibrary::load(const std::string &path) {
  for (const Object &object : objects) {
    if (object.path == path) {
      return static_cast<const void *>(
          dlsym(object.handle, LLMC_MANIFEST_SYMBOL));
    }
  }
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return makeError(
               ErrorKind::mismatch,
               fmt::format("kernel object cannot be loaded: {}", dlerror()))
        .at(path);
  }
  objects.push_back({path, handle});
  return static_cast<const void *>(dlsym(handle, LLMC_MANIFEST_SYMBOL));
}

Result<LlmcKernelFn> KernelLibrary::find(const std::string &name) const {
  for (const Object &object : objects) {
    if (void *symbol = dlsym(object.handle, name.c_str())) {
      return reinterpret_cast<LlmcKernelFn>(symbol);
    }
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected kernel '{}' in the plan's kernel "
                               "objects",
                               name));
}

} // namespace llmc::rt::cpu
