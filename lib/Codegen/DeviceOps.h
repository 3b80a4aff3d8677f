//===- DeviceOps.h - What threads of a launch do together -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_DEVICEOPS_H
#define LLMC_LIB_CODEGEN_DEVICEOPS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace llmc::codegen {

/// What becomes of ops of the gpu dialect.
enum class DeviceOps {
  /// Intrinsics of LLVM's NVPTX backend.
  Nvptx,
  /// Calls of what an LlmcLane has (LaneAbi.h), on the processor.
  Lanes,
};

/// Arguments that the pass appends to each kernel's code: the shared memory of
/// the block, then with `Lanes` a pointer to the LlmcLane.
std::unique_ptr<mlir::Pass> createDeviceOpsPass(DeviceOps ops);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_DEVICEOPS_H
