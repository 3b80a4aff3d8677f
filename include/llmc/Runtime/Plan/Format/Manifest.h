//===- Manifest.h - What a kernel object says of its kernels ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest as plain structs, and its flat form (KernelAbi.h) that code
// generation puts into the object.
//
// Test: test/Runtime/Plan/Format/ManifestTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_MANIFEST_H
#define LLMC_RUNTIME_PLAN_FORMAT_MANIFEST_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Instruction.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llmc::rt::plan {

struct KernelArgument {
  DType dtype = DType::f32;
  Access access = Access::read;
  /// The kernel touches no byte at or beyond it.
  int64_t extentBytes = 0;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelArgument> arguments;
  /// Allowed values of each scalar.
  std::vector<Interval> scalars;
  /// (read, written): the written argument may lie exactly on the read one.
  /// All others that are written must be apart from every other argument.
  std::vector<std::pair<int32_t, int32_t>> ties;
  /// Of the dimension that threads share; 1: not sliced.
  int64_t rows = 1;
  /// Of each call.
  int64_t scratchBytes = 0;
};

struct Manifest {
  std::vector<std::string> features;
  std::vector<KernelInfo> kernels;

  /// Null when there is none of that name.
  const KernelInfo *find(std::string_view name) const;
};

/// The bytes of symbol `llmc_kernel_manifest`, to be aligned to 8.
std::string serializeManifest(const Manifest &manifest);
/// Reads the flat form; its header says how long it is.
Result<Manifest> parseManifest(const void *data);
/// The same within `size` bytes.
Result<Manifest> parseManifest(const void *data, size_t size);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_MANIFEST_H
