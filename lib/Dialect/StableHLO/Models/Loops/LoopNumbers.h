//===- LoopNumbers.h - Integers that are known in each trip -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%i = 8, %k = 0) cond { %i >= 0 } do { return %i - 2, %k + 1 }
//
// has the counters `8 - 2 trip` and `trip`, and 5 trips. An integer of the body
// that depends on counters and constants alone has a value in each trip, which
// the evaluations of its ops say:
//
//   %p = select(%k < 0, %k + 5, 4 - %k)      4 - trip
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOOPNUMBERS_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOOPNUMBERS_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/HostTensor.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::stablehlo {

/// `first + step * trip`.
struct Sequence {
  int64_t first = 0, step = 0;

  int64_t at(int64_t trip) const { return first + step * trip; }
  bool operator==(const Sequence &other) const {
    return first == other.first && step == other.step;
  }
};

/// Trips as long as a counter compares so with `end`; nothing where that holds
/// without an end.
std::optional<int64_t> countTrips(Sequence counter, int64_t end,
                                  ComparisonDirection direction);
/// The direction in which `y` compares with `x` where `x` does with `y`.
ComparisonDirection turn(ComparisonDirection direction);
/// Whether integers of that type hold all that is counted in so many trips,
/// with what it is after them.
bool fitsCounter(Type element, Sequence counter, int64_t trips);

class LoopNumbers {
public:
  explicit LoopNumbers(WhileOp loop);

  /// Nothing where the condition compares no counter with a known number, or
  /// holds without an end.
  std::optional<int64_t> getTrips() const { return trips; }
  /// What goes around the loop under this number, if that is a counter.
  std::optional<Sequence> getCounter(unsigned number) const {
    return counters[number];
  }
  /// An integer scalar of the body in all trips; nothing where it is none, is
  /// not known, or not by equal steps.
  std::optional<Sequence> getSequence(Value value);
  /// Whether an integer scalar is known, and not the same in all trips.
  bool isKnownToVary(Value value);

private:
  std::optional<Sequence> matchCounter(unsigned number);
  std::optional<int64_t> matchTrips();
  std::optional<HostTensor> compute(Value value, int64_t trip, int depth = 0);
  std::optional<HostTensor> computeAnew(Value value, int64_t trip, int depth);
  std::optional<HostTensor> computeArgument(mlir::BlockArgument argument,
                                            int64_t trip, int depth);
  std::optional<int64_t> getNumber(Value value, int64_t trip = 0);
  std::optional<SmallVector<int64_t>> getNumbers(Value value);
  bool isSame(unsigned number);

  WhileOp loop;
  SmallVector<std::optional<Sequence>> counters;
  std::optional<int64_t> trips;
  /// What is known in one trip.
  llvm::DenseMap<Value, std::optional<HostTensor>> known;
  int64_t knownTrip = 0;
};

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOOPNUMBERS_H
