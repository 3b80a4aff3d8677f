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
#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Support/HostTensor.h"
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

/// sum += value, element by element, rounded to the sum's type; an empty sum
/// becomes the value, in `type`.
void addTo(HostTensor &sum, const HostTensor &value, Type type);

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
