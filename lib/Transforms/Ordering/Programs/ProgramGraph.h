//===- ProgramGraph.h - What a program does, over buffers -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a program in classes that share bytes: aliases, tied operands
// and their results. A class lies in a slot (an argument's, or a result's when
// it may be written there directly), or in the call's own memory. Nodes are
// launches, contractions, collectives, messages, and the copies that are left.
// Coordinates lie in no buffer: they are scalars of launches.
//
//   %a = launch @k(%x)                 class 1 {%a, %b, %r}, in slot act "a0"
//   %b = launch @j(%a) tied [0, 0]
//   %r = reshape %b;  return %r {act "a0"}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMGRAPH_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMGRAPH_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Solvers/Memory/BufferGraph.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::ordering {

struct ProgramGraph {
  struct Class {
    int64_t bytes = 0;
    /// Null: the call's own memory.
    dist::PortAttr slot;
    /// How many rows the slot has of each loop around the program, the
    /// outermost first, where the class is that of the running trips.
    ArrayRef<int64_t> rows = {};
  };
  struct Node {
    /// A launch, contraction or collective; null for a copy or message.
    Operation *op = nullptr;
    Location loc;
    /// Of a copy; the type is that of both ends. A send has no `to`, a receive
    /// no `from`.
    int32_t from = -1, to = -1;
    RankedTensorType type;
    /// Of a send or receive.
    mlir::FlatSymbolRefAttr transfer;
  };
  std::vector<Class> classes;
  std::vector<Node> nodes;
  /// What the nodes do to the classes, by the same numbers.
  BufferGraph uses;
  /// The class of each value of the program.
  llvm::DenseMap<Value, int32_t> classOf;
};

FailureOr<ProgramGraph> buildProgramGraph(mlir::func::FuncOp function);

/// The nodes in the order in which they are to run, or an error.
FailureOr<std::vector<int32_t>> orderNodes(const ProgramGraph &graph,
                                           mlir::func::FuncOp function);

/// The coordinates that a launch takes as a scalar, or null.
dist::CoordinateOp getScalar(Value value);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMGRAPH_H
