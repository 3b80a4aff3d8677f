//===- ProgramValues.h - Values of a program and their classes --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of a program while its graph is built: for each value so far
// the class whose bytes it has, which of the values there it is, and what must
// run before it is read.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMVALUES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMVALUES_H

#include "ProgramGraph.h"

namespace llmc::ordering {

struct ProgramValue {
  int32_t number = -1;
  /// Of the values that its class holds, one after the other.
  int32_t version = 0;
  /// Nodes whose values a fence names.
  SmallVector<int32_t> fences;
};

struct ProgramValues {
  mlir::func::FuncOp function;
  ProgramGraph graph;
  llvm::DenseMap<Value, ProgramValue> known;
  /// The classes of arguments by slot; those that are received have none.
  llvm::DenseMap<Attribute, int32_t> argumentIn;
};

/// The value's class and version, or an error at `user`.
FailureOr<ProgramValue> lookUp(const ProgramValues &values, Value value,
                               Operation *user);

/// A class for a value of this type, without any value yet.
FailureOr<int32_t> addClass(ProgramGraph &graph, Location loc, Type type);

int32_t addNode(ProgramGraph &graph, ProgramGraph::Node node);

void addRead(ProgramGraph &graph, int32_t node, const ProgramValue &value);

/// A node that copies the value, of this type, into another class.
int32_t addCopy(ProgramGraph &graph, Location loc, Type type,
                const ProgramValue &from, int32_t to);

/// Puts the results of the function into their slots: a result is there, it can
/// be made there, or it is copied. What is sent is sent from there.
LogicalResult placeResults(ProgramValues &values);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMVALUES_H
