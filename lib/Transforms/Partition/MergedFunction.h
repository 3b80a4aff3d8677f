//===- MergedFunction.h - A function whose parts are merged -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function has in common for all families of parts that MergeParts.cpp
// merges in it, so that each family costs what it touches.
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_MERGEDFUNCTION_H
#define LLMC_LIB_TRANSFORMS_PARTITION_MERGEDFUNCTION_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc {

/// A function while families are merged one after the other. Arguments and
/// results that have no use any more are erased in the end, so that places stay
/// what they are.
class MergedFunction {
public:
  explicit MergedFunction(mlir::func::FuncOp function);

  /// The arguments or results that are `state`, or gradients of it.
  ArrayRef<unsigned> getPlaces(bool isGradient, dist::StateOp state,
                               bool isArgument) const;
  /// Leaves no op that is of no use.
  void clean();
  /// Writes what has changed, if anything has.
  LogicalResult finish();

  mlir::func::FuncOp function;
  Block &body;
  dist::Signature signature;
  llvm::BitVector goneArguments, goneResults;

private:
  /// By the symbol of the state.
  using Places = llvm::DenseMap<Attribute, SmallVector<unsigned, 1>>;
  struct Side {
    Places states, gradients;
  };

  static void addPlaces(ArrayRef<dist::PortAttr> ports, Side &side);

  Side arguments, results;
  bool isClean = false;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_MERGEDFUNCTION_H
