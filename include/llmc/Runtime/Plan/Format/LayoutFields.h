//===- LayoutFields.h - Fields of meshes and layouts ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of PlanFields.h for where things lie, and for expressions.
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_LAYOUTFIELDS_H
#define LLMC_RUNTIME_PLAN_FORMAT_LAYOUTFIELDS_H

#include "llmc/Runtime/Plan/Format/LibraryFields.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

namespace llmc::rt::plan {

LLMC_FIELDS(MeshAxis) {
  v("name", x.name);
  v("size", x.size);
}
LLMC_FIELDS(Mesh) {
  v("axes", x.axes);
  v("pipeline_axis", x.pipelineAxis);
}
LLMC_FIELDS(Factor) {
  v("size", x.size);
  v("extent", x.extent);
}
LLMC_FIELDS(DimLayout) {
  v("axes", x.axes);
  v("factors", x.factors);
}
LLMC_FIELDS(Layout) { v("dims", x.dims); }
LLMC_FIELDS(ExprNode) {
  v("op", x.op);
  v("lhs", x.lhs);
  v("rhs", x.rhs);
  v("value", x.value);
}

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_LAYOUTFIELDS_H
