//===- Evaluation.h - What an evaluated op may ask its surroundings -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plain evaluation of an op sees dense tensors; regions (the body of a
// reduce or scatter) and the device's place in the mesh come from the scope,
// which the interpreter implements.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_EVALUATION_H
#define LLMC_DIALECT_GRAPH_IR_EVALUATION_H

#include "llmc/Support/HostTensor.h"
#include "llmc/Support/LLVM.h"

namespace llmc::graph {

class EvaluationScope {
public:
  virtual ~EvaluationScope() = default;
  /// Runs the single block of `region` on `arguments`.
  virtual LogicalResult
  evaluateRegion(Region &region, ArrayRef<HostTensor> arguments,
                 SmallVectorImpl<HostTensor> &results) = 0;
  /// The coordinate of the evaluating device on mesh axis `axis` (0 when the
  /// whole mesh is evaluated as one device).
  virtual int64_t getCoordinate(StringRef axis) = 0;
};

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_EVALUATION_H
