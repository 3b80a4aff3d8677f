//===- KernelFormat.h - Forms of a kernel's code ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of what an image of kernels may be, of manifests and devices.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_KERNELFORMAT_H
#define LLMC_RUNTIME_BASE_KERNELFORMAT_H

#include <cstdint>
#include <string_view>

namespace llmc::rt {

/// The numbers are those of manifests.
enum class KernelFormat : uint8_t {
  object = 0, ///< Functions of the kernel object itself, as KernelAbi.h has it.
  ptx = 1,    ///< Text that a driver compiles.
  cubin = 2,  ///< Machine code of one architecture.
};
constexpr unsigned numKernelFormats = 3;

constexpr std::string_view nameOf(KernelFormat format) {
  switch (format) {
  case KernelFormat::object:
    return "object";
  case KernelFormat::ptx:
    return "ptx";
  case KernelFormat::cubin:
    return "cubin";
  }
  return "unknown";
}

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_KERNELFORMAT_H
