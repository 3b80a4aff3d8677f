//===- ComplexParts.cpp - What ops do to parts of numbers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ComplexParts.h. Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/ComplexParts.cpp.inc"
} // namespace llmc::graph

RankedTensorType llmc::graph::getPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element ? tensor.clone(element.getElementType()) : RankedTensorType();
}
