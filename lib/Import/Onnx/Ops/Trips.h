//===- Trips.h - Loops of a known number of trips ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_OPS_TRIPS_H
#define LLMC_LIB_IMPORT_ONNX_OPS_TRIPS_H

#include "../NodeImport.h"

namespace llmc::onnx {

/// The trips of a loop of fewer are written out in any case.
constexpr int64_t kFewestTrips = 4;

/// What a loop works on: values that each trip gives to the next one, and
/// stacks [trips, ...], of which each trip reads its row.
struct TripOperands {
  int64_t trips = 0;
  SmallVector<Value> carried, stacks;
};

/// Builds one trip: of its number, a scalar of i64, what is carried into it and
/// its rows it makes what is carried out of it, and then a row [...] of each
/// stack that the loop makes.
using TripBody = llvm::function_ref<rt::Result<SmallVector<Value>>(
    Value number, ArrayRef<Value> carried, ArrayRef<Value> rows)>;

/// Whether all trips can have the ops of the first one, which `body` builds:
/// no node asks for the number of the trip or for what is carried, and no
/// carried value changes its type. A body that computes nothing but known
/// numbers, as of sizes, is for each trip by itself. What is built for the
/// answer is taken away.
rt::Result<bool> areTripsAlike(NodeImport &node, const TripOperands &operands,
                               TripBody body);

/// A `stablehlo.while` of at least one trip. Gives what is carried out of the
/// last one, and the stacks [trips, ...] that the loop makes. A value that
/// changes its type from trip to trip is refused.
rt::Result<SmallVector<Value>>
importRolled(NodeImport &node, const TripOperands &operands, TripBody body);

/// The same, trip by trip where trips are not alike.
rt::Result<SmallVector<Value>>
importTrips(NodeImport &node, const TripOperands &operands, TripBody body);

/// Values of one type along a new dimension; at least one.
rt::Result<Value> stackRows(NodeImport &node, ArrayRef<Value> rows);

/// `x` with dimension `from` as its dimension `to`, the others in their order.
Value moveDimension(NodeImport &node, Value x, int64_t from, int64_t to);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_OPS_TRIPS_H
