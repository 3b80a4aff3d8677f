//===- ArgsortDescriptor.cpp - Argsort as an attribute --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From and to the runtime's struct. The types of the keys are those of the
// operands. Tested by test/Dialect/Plan/ops.mlir, invalid-libraries.mlir.
//
//===----------------------------------------------------------------------===//

#include "LibraryDescriptors.h"

using namespace mlir;
using namespace llmc::plan;
namespace rt = llmc::rt;

LogicalResult ArgsortAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t outer, int64_t size, int64_t inner,
                                  int64_t count,
                                  DenseBoolArrayAttr descending) {
  if (descending.empty())
    return emitError() << "expected at least one key, got none";
  if (outer < 0 || inner < 0 || size < 0 || size > INT32_MAX)
    return emitError() << "expected numbers of at least 0 and a size below "
                          "2^31, got "
                       << outer << ", " << size << " and " << inner;
  if (count < 0 || count > size)
    return emitError() << "expected a count of at most the size " << size
                       << ", got " << count;
  return success();
}

rt::LibraryDescriptor
ArgsortAttr::getDescriptor(ArrayRef<rt::DType> types) const {
  rt::ArgsortShape shape;
  for (auto [i, isDescending] : llvm::enumerate(getDescending().asArrayRef()))
    shape.keys.push_back(
        {i < types.size() ? types[i] : rt::DType::f32, isDescending});
  shape.outer = getOuter();
  shape.size = getSize();
  shape.inner = getInner();
  shape.count = getCount();
  return shape;
}

LibraryDescriptorInterface
llmc::plan::getArgsortAttr(MLIRContext *context,
                           const rt::ArgsortShape &shape) {
  SmallVector<bool> descending;
  for (const rt::ArgsortKey &key : shape.keys)
    descending.push_back(key.isDescending);
  return ArgsortAttr::get(context, shape.outer, shape.size, shape.inner,
                          shape.count,
                          DenseBoolArrayAttr::get(context, descending));
}
