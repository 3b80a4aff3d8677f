//===- ReverseSweep.h - One reverse sweep over a function -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse-mode differentiation of a function of one block. Activity is found
// by one walk from the parameters and one from the loss. Then ops are visited
// from the last to the first; contributions to a cotangent are added in the
// order of the visits, so that bits are reproducible. A zero cotangent is a
// null value and never becomes an op.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_REVERSESWEEP_H
#define LLMC_TRANSFORMS_TRAINING_REVERSESWEEP_H

#include "KnownFunctions.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc::training {

class ReverseSweep {
public:
  /// `wanted`: arguments whose gradient is asked for. `inputs`: arguments that
  /// change with the data, which tells activations from functions of
  /// parameters alone.
  ReverseSweep(mlir::func::FuncOp function, ArrayRef<bool> wanted,
               ArrayRef<bool> inputs);

  /// Builds the cotangent of the loss, a scalar of its type.
  using Seed = llvm::function_ref<Value(OpBuilder &builder, Value loss)>;

  /// Appends the derivative of the scalar `loss` before the terminator and
  /// marks all ops. `gradients` gets one value for each argument, null where
  /// it is zero or not wanted.
  LogicalResult run(Value loss, Seed seed, SmallVectorImpl<Value> &gradients);

private:
  /// One error with a note for each kind of op that lacks a derivative.
  LogicalResult checkDerivatives();
  LogicalResult differentiateOp(Operation *op);
  /// One of JAX's functions with a rule of its own: its ops are passed over.
  LogicalResult differentiateCall(const KnownCall &call);
  void addContribution(Operation *op, Value operand, Value contribution);
  /// Block and location of the ops created since the last call.
  void markCreatedOps(Location forward, int64_t block);
  bool isOfTrips(Operation *op) const;
  /// Whether a cotangent of `value` that is there in `block` leaves it for an
  /// earlier one.
  bool entersBlockBefore(Value value, int64_t block) const;
  void markPhases();

  mlir::func::FuncOp function;
  SmallVector<bool> wanted;
  OpBuilder builder;
  KnownFunctions known;
  /// Ops of the forward graph, in program order.
  SmallVector<Operation *> forwardOps;
  llvm::DenseSet<Value> active, activations;
  /// What has been added up, and the first block that has contributed.
  struct Cotangent {
    Value value;
    int64_t block = 0;
  };
  Value getCotangent(Value of) const { return cotangents.lookup(of).value; }
  llvm::DenseMap<Value, Cotangent> cotangents;
  /// Sums among the ops of `created`, with their blocks.
  llvm::DenseMap<Operation *, int64_t> sums;
  /// Ops that the derivative in progress has created.
  SmallVector<Operation *> created;
  /// Ops whose result is (a part of) a cotangent of a block's input.
  llvm::DenseSet<Operation *> inputCotangents;
  struct Listener;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_REVERSESWEEP_H
