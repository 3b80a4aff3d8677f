//===- CountedLoop.h - A loop that stays one --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%i = 0, %W = %w, %x = %a, %ys = %e) cond { %i < 12 } do {
//     %y = dot %x, %W[11 - %i]
//     return %i + 1, %W, %y, %ys[%i] := %y
//   }
//     ->
//   %wi = dist.enter row (reverse %w)    %x = dist.enter carry %a
//   %y = dot %x, %wi                     %f = dist.next %x, %y
//   dist.leave last %f                   dist.leave stack %y
//
// Counters (LoopNumbers.h) are rows of their numbers. What a trip returns as it
// came is invariant. A row of what no trip changes, at a position that moves by
// equal steps, enters as a row of a stack. A value of which each trip writes
// one such row, and reads no other, is written: it comes out as a stack. All
// else is carried.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H

#include "LoopNumbers.h"
#include "llmc/Dialect/Dist/IR/Dist.h"

namespace llmc::stablehlo {

/// A row for each trip: that with the number `positions.at(trip)` along `dim`.
struct TripRows {
  int64_t dim = 0;
  Sequence positions;

  bool operator==(const TripRows &other) const {
    return dim == other.dim && positions == other.positions;
  }
};

/// What becomes of one value that goes around a loop.
enum class LoopPart { Counter, Invariant, Written, Carried };

/// A loop whose number of trips is known.
class CountedLoop {
public:
  explicit CountedLoop(WhileOp loop);

  /// Nothing where the loop is none.
  std::optional<int64_t> getTrips() const { return numbers.getTrips(); }
  Block &getBody() { return loop.getBody().front(); }
  LoopPart getPart(unsigned number) const { return parts[number]; }
  Sequence getCounter(unsigned number) const {
    return *numbers.getCounter(number);
  }
  /// The rows that an op of the body reads of a value, or writes into it;
  /// nothing where these are other boxes.
  std::optional<TripRows> getRead(DynamicSliceOp slice);
  std::optional<TripRows> getWrite(DynamicUpdateSliceOp write);
  /// Of a written value: what writes it.
  DynamicUpdateSliceOp getWriter(unsigned number);
  /// Whether branches depend on the trip alone: unrolled, one is left of each.
  bool hasKnownBranches();

  WhileOp loop;

private:
  LoopPart classify(unsigned number);
  bool isWritten(unsigned number);
  std::optional<TripRows> getRows(ValueRange starts, ArrayRef<int64_t> sizes,
                                  RankedTensorType stack);

  LoopNumbers numbers;
  SmallVector<LoopPart> parts;
};

/// Whether the loop is better kept than unrolled: it is counted, has several
/// trips, and a trip calls a library, or all trips are very many ops. What is
/// element-wise alone becomes one kernel when it is unrolled. A loop in another
/// one is kept in its trips.
bool isKept(WhileOp loop);

/// The innermost loop that has been kept in whose trips something is made that
/// the loop reads; null where there is none.
dist::LoopAttr findTrips(Operation *loop);

/// A name that no loop has which has been kept beside this one.
mlir::StringAttr makeLoopName(WhileOp loop);

/// Builds the ops of one trip, and what goes in and out of it, in front of the
/// loop, for which `isKept` holds; appends what stands for its results.
void keepLoop(WhileOp loop, OpBuilder &builder,
              SmallVectorImpl<Value> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COUNTEDLOOP_H
