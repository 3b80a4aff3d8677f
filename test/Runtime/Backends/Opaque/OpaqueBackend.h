//===- OpaqueBackend.h - Devices whose memory the host cannot see ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests ask of the target "opaque" beside running plans.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_BACKENDS_OPAQUE_OPAQUEBACKEND_H
#define LLMC_TEST_RUNTIME_BACKENDS_OPAQUE_OPAQUEBACKEND_H

#include "llmc/Runtime/Comm/Backend.h"

#include <vector>

namespace llmc::rt::test {

/// A call of `Device::prepare`.
struct PreparedOp {
  int device;
  LibraryShape shape;
};
/// All calls so far, of all worlds of this process.
extern std::vector<PreparedOp> prepared;

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_BACKENDS_OPAQUE_OPAQUEBACKEND_H
