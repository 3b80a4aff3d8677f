//===- Version.h - Which llmc this is ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `llmc --version` and `llmc-run --version` print, beside the plan format.
//
// Test: test/Tools/llmc/command-line.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_VERSION_H
#define LLMC_RUNTIME_BASE_VERSION_H

namespace llmc::rt {

inline constexpr const char *version = "0.1.0";

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_VERSION_H
