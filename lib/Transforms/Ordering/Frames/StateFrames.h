//===- StateFrames.h - Frames, buffers and parts of states ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each `dist.buffer` becomes a buffer of a `state` frame, each of its boxes a
// `plan.part` of the state.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_STATEFRAMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_STATEFRAMES_H

#include "PlanFrames.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include <map>

namespace llmc::ordering {

/// The local part of `box` in a buffer of `type`; `shape`: of its state.
FailureOr<plan::OperandAttr>
getBoxOperand(Location loc, mlir::FlatSymbolRefAttr buffer,
              mlir::RankedTensorType type, dist::BoxAttr box,
              ArrayRef<int64_t> shape, dist::MeshOp mesh);

/// The buffers by the name of the `dist.buffer`.
FailureOr<std::map<std::string, mlir::FlatSymbolRefAttr>>
makeStateFrames(OpBuilder &builder, PlanNames &names, ModuleOp module,
                dist::MeshOp mesh);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_STATEFRAMES_H
