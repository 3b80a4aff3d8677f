//===- FactorTypes.h - Which floats each contraction multiplies -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_FACTORTYPES_H
#define LLMC_TRANSFORMS_TRAINING_FACTORTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::training {

/// Reads the marks `dist.precision` of step and states.
class FactorTypes {
public:
  explicit FactorTypes(mlir::ModuleOp module);

  bool isEmpty() const { return !type && !saved && states.empty(); }
  /// The type in which what the backward reads is kept, or null.
  mlir::FloatType getSaved() const { return saved; }
  /// Finds the contractions of a function that read a marked parameter or make
  /// its gradient.
  void collect(mlir::func::FuncOp function);
  /// The type of an op's factors, or null: as they are.
  mlir::FloatType of(mlir::Operation *op) const;

private:
  void collectReaders(mlir::BlockArgument parameter, mlir::FloatType wanted);
  void collectGradient(mlir::Value gradient, mlir::FloatType wanted);

  /// Of what reads no marked parameter.
  mlir::FloatType type, saved;
  llvm::DenseMap<mlir::Attribute, mlir::FloatType> states;
  llvm::DenseMap<mlir::Operation *, mlir::FloatType> found;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_FACTORTYPES_H
