//===- GroupedContractionDescriptor.cpp - Products of groups, an attribute ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From and to the runtime's struct. The types are those of the operands. Tested
// by test/Dialect/Plan/ops.mlir, invalid-grouped-contractions.mlir.
//
//===----------------------------------------------------------------------===//

#include "LibraryDescriptors.h"

using namespace mlir;
using namespace llmc::plan;
namespace rt = llmc::rt;

LogicalResult
GroupedContractionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ContractionAttr product, int64_t rows,
                               int64_t numSizes, int64_t groups, int64_t stride,
                               bool hasOwnSizes, bool hasFirst) {
  ArrayRef<LoopDimAttr> dims = product.getDims();
  if (rows < 0 || rows >= static_cast<int64_t>(dims.size()) ||
      (dims[rows].getKind() != LoopKind::M &&
       dims[rows].getKind() != LoopKind::K))
    return emitError() << "expected rows that are a dim m or k of the product, "
                          "got dim "
                       << rows;
  if (numSizes < 0 || groups < 0 || stride < 0)
    return emitError() << "expected numbers of at least 0, got " << numSizes
                       << ", " << groups << " and " << stride;
  if (product.getHasBias() || product.getAlpha() ||
      product.getActivation() != Activation::None)
    return emitError() << "expected a product without bias, alpha and "
                          "activation";
  return success();
}

/// Of the product's operands the third is the result.
rt::LibraryDescriptor
GroupedContractionAttr::getDescriptor(ArrayRef<rt::DType> types) const {
  SmallVector<rt::DType> ofProduct(types.take_front(2));
  size_t last = getHasFirst() ? 4 : 3;
  if (ofProduct.size() == 2 && last < types.size())
    ofProduct.push_back(types[last]);
  rt::GroupedContractionShape shape;
  shape.product =
      std::get<rt::ContractionShape>(getProduct().getDescriptor(ofProduct));
  shape.rows = static_cast<int32_t>(getRows());
  shape.sizes = types.size() > 2 ? types[2] : rt::DType::i32;
  shape.numSizes = getNumSizes();
  shape.groups = getGroups();
  shape.stride = getStride();
  shape.hasOwnSizes = getHasOwnSizes();
  shape.hasFirst = getHasFirst();
  return shape;
}

LibraryDescriptorInterface llmc::plan::getGroupedContractionAttr(
    MLIRContext *context, const rt::GroupedContractionShape &shape) {
  auto product =
      cast<ContractionAttr>(getDescriptorAttr(context, shape.product));
  return GroupedContractionAttr::get(context, product, shape.rows,
                                     shape.numSizes, shape.groups, shape.stride,
                                     shape.hasOwnSizes, shape.hasFirst);
}
