//===- KnownFunctions.h - JAX's functions that have rules -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table JaxFunctions.mlir has the ops of each function, as JAX prints them,
// and its derivative. A function is found by its ops, from its result upwards;
// the forward graph stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_KNOWNFUNCTIONS_H
#define LLMC_TRANSFORMS_TRAINING_KNOWNFUNCTIONS_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace llmc::training {

/// Where a function of the table stands in a graph.
struct KnownCall {
  /// The function in the table.
  mlir::func::FuncOp function;
  /// The op that gives its result.
  Operation *root = nullptr;
  /// The values that it was called with.
  SmallVector<Value> arguments;
  /// All its ops, constants and the root among them.
  llvm::DenseSet<Operation *> body;

  Value result() const { return root->getResult(0); }
};

class KnownFunctions {
public:
  explicit KnownFunctions(mlir::MLIRContext *context);

  /// Whether the rule of this function of JAX says what its ops say.
  bool hasDerivativeOfOps(StringRef name);

  /// The first function of the table whose result `root` gives.
  std::optional<KnownCall> match(Operation *root);

  /// `gradients` gets the cotangent of each argument of the call.
  void buildDerivative(OpBuilder &builder, const KnownCall &call,
                       Value cotangent, SmallVectorImpl<Value> &gradients);

private:
  mlir::OwningOpRef<ModuleOp> table;
  /// Functions with the op that gives their result.
  SmallVector<std::pair<mlir::func::FuncOp, Operation *>> functions;
};

/// The location says that a function with a rule of its own was called there
/// ("custom_jvp_call", "custom_vjp_call").
bool hasRuleMark(Operation *op);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_KNOWNFUNCTIONS_H
