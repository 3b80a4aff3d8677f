//===- Routes.h - What crosses between segments -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which segment sends and which receives each transfer, and which values a
// stage keeps from one of its segments to another (acts).
//
// With in-order, rendezvous transfers two stages must meet in one order. So a
// transfer upward goes from a forward to a forward and one downward from a
// backward to a backward, whatever segments make and use the value; where these
// are others of the same stage, the value is kept in between.
//
//   x of F(1), used in B(0) alone   -> kept for B(1), sent by B(1) to B(0)
//   x of F(0), used in B(1) alone   -> received by F(1), kept for B(1)
//
// What is prepared before the microbatches is sent and received before them.
//
// Test: test/Transforms/Activations/outline-programs.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_MEMORY_ROUTES_H
#define LLMC_LIB_TRANSFORMS_MEMORY_ROUTES_H

#include "llmc/Analysis/Program/Stages.h"

namespace llmc {

/// The chunk of a segment that has one.
inline int64_t getChunk(dist::SegmentOp segment) {
  return static_cast<int64_t>(*segment.getChunk());
}

/// A transfer with the segments that send and receive it.
struct Route {
  dist::TransferOp transfer;
  dist::SegmentOp from, to;
};

/// A value that is kept, and the segment that hands it over. An argument is
/// kept for each chunk, by its forward.
struct Act {
  Value value;
  dist::SegmentOp from;
  /// Of what the trips of loops make, of each loop around its segment, the
  /// outermost first: how many rows the slot has, or 0, where each trip finds
  /// what it needs before the next one. What leaves a loop as a stack is made
  /// by rows of it.
  SmallVector<int64_t> rows;
};

/// The value in whose slot `value` lies: what a loop carries out of its last
/// trip lies where what goes into the first one does.
Value getSlotValue(Value value);

/// A segment's value that the function returns, perhaps through joins.
struct Returned {
  Value value;
  unsigned index;
};

class Routes {
public:
  Routes(mlir::func::FuncOp function, StageMap &stages)
      : function(function), stages(stages) {}

  /// Reports at the op that cannot be routed.
  LogicalResult build();

  ArrayRef<Route> getRoutes() const { return routes; }
  /// Values that a stage keeps for another of its segments, in the order of the
  /// segments that hand them over.
  ArrayRef<Act> getActs() const { return acts; }
  /// The act of a segment's result or of a received value; null without one.
  const Act *findAct(Value value) const;
  /// The act from which `reader` reads the value; null when it reads none.
  const Act *findAct(Value value, dist::SegmentOp reader) const;
  /// The segment in which a value first is at the stage where it is used: it
  /// makes it, or receives it. Null for arguments.
  dist::SegmentOp getHome(Value value) const { return homes.lookup(value); }
  /// What the function returns of this segment, by result number.
  ArrayRef<Returned> getReturned(dist::SegmentOp segment) const {
    auto found = returned.find(segment);
    return found == returned.end() ? ArrayRef<Returned>() : found->second;
  }

private:
  dist::SegmentOp find(int64_t chunk, bool isForward);
  LogicalResult route(dist::TransferOp transfer);
  void addRoute(const Route &route);
  void findActs();
  void findRows(Act &act);
  void addReturned(Value value, unsigned index);
  LogicalResult checkReturned(mlir::OpOperand &operand);

  mlir::func::FuncOp function;
  StageMap &stages;
  SmallVector<Route> routes;
  SmallVector<Act> acts;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> actsOf;
  llvm::DenseMap<Value, dist::SegmentOp> homes;
  llvm::DenseMap<Operation *, SmallVector<Returned>> returned;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_MEMORY_ROUTES_H
