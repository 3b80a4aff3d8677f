//===- TripProbe.h - Whether trips are alike --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes may ask for the elements of a tensor, as for the sizes of a slice. A
// body that asks so for the number of its trip, or for what is carried into it,
// can only be imported for each trip by itself. So the first trip is imported,
// and what it asks for is noted; where trips are alike, its ops are taken away
// again, and the body becomes that of a loop.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_TRIPPROBE_H
#define LLMC_LIB_IMPORT_ONNX_TRIPPROBE_H

#include "GraphImporter.h"

namespace llmc::onnx {

class TripProbe {
public:
  /// From here on the ops of a trip are built, into which `inputs` come.
  TripProbe(GraphImporter &importer, ArrayRef<Value> inputs);
  ~TripProbe();
  TripProbe(const TripProbe &) = delete;
  TripProbe &operator=(const TripProbe &) = delete;

  /// The elements of `value` were asked for, and are known.
  void note(Value value);
  bool dependsOnInputs(Value value) const;
  /// Nothing was asked of what differs from trip to trip, and no training op
  /// stands in the body, which changes more than its results.
  bool areTripsAlike() const;
  /// All elements are known, as of sizes that a loop computes.
  bool areKnown(ArrayRef<Value> values) const;
  /// Takes the ops away; what was built before stays.
  void undo();

private:
  bool isOfTrip(Operation *op) const;
  size_t countChanges() const;

  GraphImporter &importer;
  TripProbe *around;
  llvm::DenseSet<Value> inputs;
  Block *block;
  Operation *before;
  int64_t draws;
  size_t changes;
  bool asked = false;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_TRIPPROBE_H
