//===- TripValues.h - What a value is in each trip of loops -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value of a loop that is in another one has one value for each pair of
// trips, those of the inner loop side by side.
//
// Test: test/Interpreter/LoopsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_TRIPVALUES_H
#define LLMC_INTERPRETER_TRIPVALUES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include <vector>

namespace llmc {

/// The numbers of the trips that run, that of the outermost loop first.
using TripNumbers = SmallVector<int64_t, 2>;

template <typename T> class TripValues {
public:
  /// Makes room for the values of an op of the loop.
  void prepare(dist::LoopAttr loop) {
    if (!values.empty())
      return;
    int64_t size = 1;
    for (dist::LoopAttr each : loop.getPath()) {
      counts.push_back(each.getNumbers());
      size *= each.getNumbers();
    }
    values.resize(size);
  }
  /// Whether the value is of these trips, and perhaps of loops around others.
  bool isOf(ArrayRef<int64_t> trips) const {
    return !values.empty() && counts.size() <= trips.size();
  }
  T &at(ArrayRef<int64_t> trips) { return values[indexOf(trips)]; }
  const T &at(ArrayRef<int64_t> trips) const { return values[indexOf(trips)]; }
  /// The values of all trips of the innermost loop, in the trips of those
  /// around it.
  ArrayRef<T> within(ArrayRef<int64_t> trips) const {
    TripNumbers first(trips.take_front(counts.size() - 1));
    first.push_back(0);
    return ArrayRef<T>(values).slice(indexOf(first), lengthOf());
  }
  /// What is left after the last trip of a loop that only the run ends.
  void setLast(T value) {
    values.assign(1, std::move(value));
    counts.assign(1, 1);
  }
  ArrayRef<T> getAll() const { return values; }

private:
  int64_t indexOf(ArrayRef<int64_t> trips) const {
    int64_t index = 0;
    for (auto [count, trip] :
         llvm::zip_first(counts, trips.take_front(counts.size())))
      index = index * count + trip;
    return index;
  }
  int64_t lengthOf() const { return counts.back(); }

  std::vector<T> values;
  /// Of each loop, the outermost first: how many numbers of trips there are.
  SmallVector<int64_t, 2> counts;
};

} // namespace llmc

#endif // LLMC_INTERPRETER_TRIPVALUES_H
