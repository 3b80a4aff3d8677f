//===- ScalarRun.h - Runs an op by its scalar code --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks an op for the scalar code of each element, with constants for indices
// and for the elements it reads, and folds that code to a number. A loop is
// folded trip by trip, and so is what its body reads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_SCALARRUN_H
#define LLMC_TEST_DIALECT_GRAPH_SCALARRUN_H

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace llmc::test {

class ScalarRun {
public:
  ScalarRun(Operation *op, ArrayRef<HostTensor> operands);

  /// True for the forms Element, Reduction and Update.
  bool isPossible() const;
  /// The results by scalar code; an error or the empty string.
  std::string compute(SmallVectorImpl<HostTensor> &results);

private:
  void computeElements(SmallVectorImpl<HostTensor> &results);
  void computeReduction(SmallVectorImpl<HostTensor> &results);
  void computeUpdate(SmallVectorImpl<HostTensor> &results);

  /// The element at folded indices; notes reads that are out of bounds.
  Value read(const HostTensor &tensor, ValueRange indices);
  Value readAt(const HostTensor &tensor, int64_t i);
  void write(HostTensor &tensor, int64_t i, Value value);
  /// Row-major number of the folded indices, or -1 out of bounds.
  int64_t locate(const HostTensor &tensor, ValueRange indices);
  SmallVector<Value> makeIndices(ArrayRef<int64_t> index);
  Attribute fold(Value value);
  Attribute foldOp(Value value);
  void foldLoop(mlir::scf::ForOp loop);
  int64_t foldInt(Value value);

  Operation *op;
  graph::KernelOpInterface kernel;
  ArrayRef<HostTensor> operands;
  mlir::Block block;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Value, Attribute> folded;
  /// What stands for an element that a loop's body reads: its tensor.
  llvm::DenseMap<Value, const HostTensor *> reads;
  std::string error;
};

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_SCALARRUN_H
