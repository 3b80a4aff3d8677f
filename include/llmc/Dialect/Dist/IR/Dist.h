//===- Dist.h - The dist dialect --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, attributes and ops of `dist`: programs over states, meshes and
// layouts, collectives, segments and schedules.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DIST_H
#define LLMC_DIALECT_DIST_IR_DIST_H

#include "llmc/Solvers/Schedules/ScheduleCell.h"
#include "llmc/Support/Dropout.h"
#include "llmc/Support/NamedKind.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace llmc {
inline llvm::hash_code hash_value(const ScheduleCell &cell) {
  return llvm::hash_combine(static_cast<int32_t>(cell.kind), cell.chunk,
                            cell.microbatch);
}
namespace dist {
using Cell = ScheduleCell;
} // namespace dist
} // namespace llmc

#include "llmc/Dialect/Dist/IR/DistDialect.h.inc"
#include "llmc/Dialect/Dist/IR/DistEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Dist/IR/DistAttrs.h.inc"

namespace llmc::dist {
/// What collectives differ in, beside their kind.
struct Exchange {
  /// The dim along which parts are taken or laid side by side; of an
  /// all-to-all they are taken along `dim` and laid along `concatDim`.
  int64_t dim = 0, concatDim = 0;
  /// Coordinates of the one member that gives or gets, one for each axis.
  llvm::ArrayRef<int64_t> member;
  /// Of a permutation by axes: where each member's value goes.
  mlir::ArrayAttr to;
  /// Of one by members: from which each gets its value.
  llvm::ArrayRef<int64_t> from = {};
  /// Of one that takes counts: the tensor that has them.
  mlir::Value counts = {};
};
} // namespace llmc::dist

#include "llmc/Dialect/Dist/IR/DistInterfaces.h.inc"

namespace llmc::dist {
class NextOp;
class YieldOp;
} // namespace llmc::dist

#define GET_OP_CLASSES
#include "llmc/Dialect/Dist/IR/DistOps.h.inc"

namespace llmc::dist {
/// The entry that counts for the recipe or step, or null.
EntryOp findCounting(mlir::Operation *step);
} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_DIST_H
