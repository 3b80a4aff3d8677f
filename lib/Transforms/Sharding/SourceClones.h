//===- SourceClones.h - Constants are split for each use --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is made of scalars alone (constants, iota, broadcast scalars) costs
// nothing to make again, and must not carry axes from one use to another: each
// use gets a clone before propagation, and clones with equal layouts become one
// again after it.
//
//   %c used with [{"t"}, {}] and [{}, {"t"}]   becomes two constants
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_SOURCECLONES_H
#define LLMC_LIB_TRANSFORMS_SHARDING_SOURCECLONES_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc {

class SourceClones {
public:
  /// One op for each use of each source in the function.
  void split(mlir::func::FuncOp function);
  /// Ops of equal attributes become one; the first stays.
  void merge();

private:
  SmallVector<SmallVector<Operation *>> groups;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_SOURCECLONES_H
