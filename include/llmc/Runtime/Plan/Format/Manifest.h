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

#include "llmc/Runtime/Base/KernelFormat.h"
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
  /// Of its first byte: a power of two up to `alignment`; that of the dtype is
  /// meant by 0.
  uint32_t alignment = 0;
};

/// Code of kernels for one device, or for all that know a language.
struct KernelImage {
  KernelFormat format = KernelFormat::object;
  /// "sm_90"; "" where it does not matter.
  std::string architecture;
  /// Empty for the object itself.
  std::string data;
};

/// A function of an image.
struct KernelCode {
  uint32_t image = 0;
  std::string symbol;
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
  /// Of the plan that may launch it.
  std::string target = "cpu";
  /// A call's rows begin at a multiple of it.
  int64_t rowsPerBlock = 1;
  /// Threads that run side by side on one block of rows, and bytes of the
  /// memory that they share.
  uint32_t threadsPerBlock = 1, sharedBytes = 0;
  /// One or more, of different images.
  std::vector<KernelCode> codes;
};

struct Manifest {
  std::vector<std::string> features;
  std::vector<KernelInfo> kernels;
  std::vector<KernelImage> images;

  /// Null when there is none of that name.
  const KernelInfo *find(std::string_view name) const;
  /// Makes the object itself the image of all kernels: their functions have
  /// their names.
  void setObjectCode();
};

/// The bytes of symbol `llmc_kernel_manifest`, to be aligned to 16.
std::string serializeManifest(const Manifest &manifest);
/// Reads the flat form; its header says how long it is.
Result<Manifest> parseManifest(const void *data);
/// The same within `size` bytes.
Result<Manifest> parseManifest(const void *data, size_t size);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_MANIFEST_H
