//===- ElementPaths.h - What is computed element by element -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer computes each element of a state from the element of the
// parameter, of its gradient and of other states at the same place:
//
//   %d = dot_general %x, %y        is no place of
//   %s = multiply %rate, %d        is one of
//   %q = subtract %p, %s           %q: sources %s, %d and %p
//
// Whether an op keeps places its sharding rule says: operand and result have
// the same factors, all of which pass.
//
// Test: test/Analysis/Program/ElementPathsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_ELEMENTPATHS_H
#define LLMC_ANALYSIS_PROGRAM_ELEMENTPATHS_H

#include "llmc/Support/LLVM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace llmc {

/// `result`, of the operand's op, is computed from the operand, as far as is
/// known: each result of a barrier comes from one operand alone.
bool feeds(mlir::OpOperand &operand, mlir::OpResult result);

/// The operand whose value `result` is, where the op changes nothing, as a
/// barrier; else null.
mlir::OpOperand *getForwarded(mlir::OpResult result);

/// The values that `result` is computed from: operands that feed it, and of
/// what enters a loop what the trip before leaves of it, or that there was one.
SmallVector<Value> getSources(mlir::OpResult result);

/// Adds all results in the block that are computed from `values`.
void addDependents(mlir::Block &block, llvm::SetVector<Value> &values);

/// `result`, of the operand's op, has at each place what is computed from the
/// operand's element at this place, and from other operands.
bool keepsPlaces(mlir::OpOperand &operand, mlir::OpResult result);

/// The values from which `value` is computed place by place, itself included,
/// each with the least number of ops between; nearest first.
llvm::MapVector<Value, unsigned> findElementSources(Value value);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_ELEMENTPATHS_H
