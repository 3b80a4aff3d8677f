//===- Contractions.cpp - Contractions of a plan for a backend ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Contractions.h"

namespace llmc::rt {

static ContractionIndexKind kindOf(plan::ContractionDimKind kind) {
  switch (kind) {
  case plan::ContractionDimKind::batch:
    return ContractionIndexKind::batch;
  case plan::ContractionDimKind::m:
    return ContractionIndexKind::m;
  case plan::ContractionDimKind::n:
    return ContractionIndexKind::n;
  case plan::ContractionDimKind::k:
    return ContractionIndexKind::k;
  }
  return ContractionIndexKind::batch;
}

ContractionShape shapeOf(const plan::Contraction &contraction, int threads,
                         std::string name) {
  ContractionShape shape;
  shape.name = std::move(name);
  shape.a = contraction.a.dtype;
  shape.b = contraction.b.dtype;
  shape.c = contraction.c.dtype;
  shape.accumulate = contraction.accumulate;
  for (const plan::ContractionDim &dim : contraction.dims) {
    shape.indices.push_back(
        {kindOf(dim.kind), dim.size, dim.strideA, dim.strideB, dim.strideC});
  }
  shape.alpha = contraction.alpha;
  shape.addToResult = contraction.beta == 1;
  shape.threads = threads;
  shape.scratchBytes = static_cast<uint64_t>(contraction.scratchBytes);
  return shape;
}

} // namespace llmc::rt
