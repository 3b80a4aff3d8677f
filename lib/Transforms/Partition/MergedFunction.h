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

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/SignatureMarks.h"
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

  /// The arguments or results with this mark of `state`.
  ArrayRef<unsigned> getPlaces(StringRef mark, dist::StateOp state,
                               bool isArgument) const;
  /// Leaves no op that is of no use.
  void clean();
  /// Writes what has changed, if anything has.
  LogicalResult finish();

  mlir::func::FuncOp function;
  Block &body;
  SignatureMarks marks;
  llvm::BitVector goneArguments, goneResults;

private:
  using Places =
      llvm::DenseMap<std::pair<StringRef, Attribute>, SmallVector<unsigned, 1>>;

  static void addPlaces(mlir::DictionaryAttr marks, unsigned place,
                        Places &places);

  Places arguments, results;
  bool isClean = false;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_MERGEDFUNCTION_H
