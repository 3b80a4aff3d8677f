//===- OptimizerInstance.h - An optimizer applied to one state --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer is a function for one parameter. Its arguments say by their
// ports what they are:
//
//   %p {dist.port = #dist.port<parameter>}    %g {... <gradient>}
//   %m {dist.port = #dist.port<moment "m">}   %lr {... <hyper @lr>}
//
// and its results likewise (parameter and moments). Where %p has one element,
// tensor<1xf32>, the function describes an element: every value of shape [1]
// takes the parameter's shape, and a reduction or a size is one of all
// elements. With `dist.sizes`, sizes of %p stand for those of the parameter
// (UpdateMarks.h). Otherwise %p must have the parameter's shape. Floats of %p's
// type become the parameter's where that is wider.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_OPTIMIZERINSTANCE_H
#define LLMC_TRANSFORMS_TRAINING_OPTIMIZERINSTANCE_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace llmc::training {

/// An optimizer's function, read once.
class Optimizer {
public:
  enum class Kind { Parameter, Gradient, Moment, Hyper };
  struct Argument {
    Kind kind;
    /// Name of the moment or hyper value.
    std::string name;
    RankedTensorType type;
  };

  /// Reports at the function what its ports lack.
  static FailureOr<Optimizer> read(mlir::func::FuncOp function);

  mlir::func::FuncOp getFunction() const { return function; }
  ArrayRef<Argument> getArguments() const { return arguments; }
  /// Names of the moments, in the order of the arguments.
  SmallVector<StringRef> getMoments() const;
  /// Type of an argument of kind `Moment` for a parameter of type `parameter`.
  RankedTensorType getMomentType(StringRef moment,
                                 RankedTensorType parameter) const;

  /// Builds the function's body on `operands` (one for each argument, of the
  /// parameter's shape but for hyper values). `results` gets the
  /// new parameter, then the new moments in the order of `getMoments`.
  LogicalResult instantiate(OpBuilder &builder, Location loc,
                            ValueRange operands,
                            SmallVectorImpl<Value> &results) const;

private:
  mlir::func::FuncOp function;
  SmallVector<Argument> arguments;
  /// Number of the function's result for the parameter and each moment.
  SmallVector<unsigned> resultOrder;
  RankedTensorType parameterType;

  bool isOnElements() const {
    return parameterType.getShape() == ArrayRef<int64_t>({1});
  }
  LogicalResult readArguments();
  LogicalResult readResults();
  LogicalResult checkElementwise() const;
  SmallVector<int64_t> mapShape(ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> parameter) const;
  /// The type in the instance for a parameter of type `parameter`.
  RankedTensorType mapType(RankedTensorType type,
                           RankedTensorType parameter) const;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_OPTIMIZERINSTANCE_H
