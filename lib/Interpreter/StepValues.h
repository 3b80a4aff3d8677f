//===- StepValues.h - Scalars and sums of a step ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the drivers of steps share: hyper values by the runtime's rules, and the
// sums over microbatches.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_INTERPRETER_STEPVALUES_H
#define LLMC_LIB_INTERPRETER_STEPVALUES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Interpreter/DeviceTensors.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Support/HostTensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {

/// A scalar of `type`, rounded to it.
HostTensor makeScalar(Type type, double value);

/// The value of `dist.hyper @name` in a step; an error is reported at `from`.
FailureOr<HostTensor> evaluateHyper(Operation *from,
                                    const mlir::SymbolTable &symbols,
                                    mlir::FlatSymbolRefAttr name,
                                    const llvm::StringMap<double> &externals,
                                    int64_t step, uint64_t seed);

/// The element type in which gradients of `state` (or null) are summed.
Type getAccumulateType(dist::StateOp state, Type gradient);

/// `tensor` with elements of `type`.
HostTensor convertElements(const HostTensor &tensor, Type type);
void convertTo(HostTensor &tensor, Type type);
/// On each device at which it lives.
void convertTo(DeviceTensors &tensors, Type type);

/// sum += value, element by element, rounded to the sum's type; an empty sum
/// becomes the value, in `type`.
void addTo(HostTensor &sum, const HostTensor &value, Type type);
/// The same on each device at which the value lives.
void addTo(DeviceTensors &sum, const DeviceTensors &value, Type type);

/// Adds each result of @microbatch that is a gradient or a scalar to its sum,
/// in the type in which it is summed. `Value` is a tensor of one device or of
/// all, and `Sums` the driver's StepResult.
template <typename Value, typename Sums>
void addResults(const mlir::SymbolTable &symbols, mlir::func::FuncOp function,
                ArrayRef<Value> results, Sums &sums) {
  for (auto [i, result] : llvm::enumerate(results)) {
    Type element = mlir::getElementTypeOrSelf(function.getResultTypes()[i]);
    dist::PortAttr port = dist::getResultPort(function, i);
    if (mlir::FlatSymbolRefAttr of = dist::getGradientOf(port))
      addTo(sums.gradients[of.getAttr()], result,
            getAccumulateType(symbols.lookup<dist::StateOp>(of.getValue()),
                              element));
    else if (dist::isScalarSum(port))
      addTo(sums.sums[port.getSlot()], result, getAccumulateType({}, element));
  }
}

/// Converts the sums of gradients to the types in which @update takes them:
/// those in which @microbatch returns them, as `dist.step` verifies.
template <typename Sums>
void convertSums(mlir::func::FuncOp update, Sums &sums) {
  for (auto [i, type] : llvm::enumerate(update.getArgumentTypes()))
    if (mlir::FlatSymbolRefAttr of =
            dist::getGradientOf(dist::getArgumentPort(update, i)))
      convertTo(sums.gradients[of.getAttr()], mlir::getElementTypeOrSelf(type));
}

/// totals += counts, by name.
void addCounts(const NamedTensors &counts, llvm::StringMap<double> &totals);

/// The box of `whole` at `offsets` with the shape of `type`.
HostTensor cutBox(const HostTensor &whole, RankedTensorType type,
                  ArrayRef<int64_t> offsets);
/// Writes `part` into `whole` at `offsets`.
void pasteBox(HostTensor &whole, const HostTensor &part,
              ArrayRef<int64_t> offsets);

} // namespace llmc

#endif // LLMC_LIB_INTERPRETER_STEPVALUES_H
