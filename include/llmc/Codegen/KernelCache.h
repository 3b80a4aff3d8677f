//===- KernelCache.h - Kernels compiled before ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder with the objects of kernels, by what they are made of, which several
// processes may use at once. An entry is whole or absent; one that is damaged
// counts as absent.
//
// A key names the kernel's text, the processor's instruction sets, LLVM's
// version, and size and time of this executable, so that another build of llmc
// finds nothing of this one.
//
// Test: test/Codegen/KernelCacheTest.cpp
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_CODEGEN_KERNELCACHE_H
#define LLMC_CODEGEN_KERNELCACHE_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Support/LLVM.h"
#include <optional>
#include <string>

namespace llmc::codegen {

class KernelCache {
public:
  /// Makes the folder if there is none. Error `usage` unless it is one that the
  /// user owns and nobody else may write: its objects are code that is run.
  static rt::Result<KernelCache> open(const std::string &folder);

  /// The name of the object that `code`, a kernel's text, becomes.
  std::string getKey(StringRef code) const;
  std::optional<std::string> find(StringRef key) const;
  /// Error `usage` when it cannot be written.
  rt::Status store(StringRef key, StringRef object) const;
  /// Removes the entries used longest ago until the others take at most
  /// `bytes`.
  void trim(uint64_t bytes = uint64_t(1) << 28) const;
  /// Trims unless that was done in the last ten minutes: it asks for the size
  /// and the time of each entry.
  void trimAtTimes() const;

private:
  KernelCache(std::string folder, std::string compiler)
      : folder(std::move(folder)), compiler(std::move(compiler)) {}
  std::string getPath(StringRef key) const;

  std::string folder;
  std::string compiler;
};

} // namespace llmc::codegen

#endif // LLMC_CODEGEN_KERNELCACHE_H
