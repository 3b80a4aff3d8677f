//===- Resources.cpp - Constants whose elements stand beside the text -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %c = stablehlo.constant dense_resource<w> : tensor<2xf32>
//   {-# dialect_resources: {builtin: {w: "0x040000000000803F00000040"}} #-}
//   ->
//   %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
//
// No later phase knows resources. The elements of each are copied once, however
// many constants it has, and then given back.
//
// Test: test/Import/StableHLO/resources.test
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

using BlobEntry = DialectResourceBlobManager::BlobEntry;

/// The elements; null where there are too many or too few bytes. An i1 is a
/// byte, or a bit as in `dense`.
static DenseElementsAttr readElements(DenseResourceElementsAttr resource) {
  ShapedType type = resource.getType();
  ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
  if (type.getElementType().isInteger(1) &&
      static_cast<int64_t>(bytes.size()) == type.getNumElements()) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  bool isSplat = false;
  return DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat)
             ? DenseElementsAttr::getFromRawBuffer(type, bytes)
             : DenseElementsAttr();
}

static rt::Status refuse(Location loc, DenseResourceElementsAttr resource) {
  ShapedType type = resource.getType();
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  Type part = complex ? complex.getElementType() : element;
  int64_t each =
      llvm::divideCeil(part.getIntOrFloatBitWidth(), 8) * (complex ? 2 : 1);
  size_t got = resource.getRawHandle().getBlob()->getData().size();
  return rt::makeError(ErrorKind::diagnosed,
                       describePlace(loc) + "expected " +
                           std::to_string(each * type.getNumElements()) +
                           " bytes of elements in resource '" +
                           resource.getRawHandle().getKey().str() + "', got " +
                           std::to_string(got));
}

rt::Status import::readResources(func::FuncOp main) {
  llvm::DenseMap<Attribute, DenseElementsAttr> known;
  llvm::SetVector<BlobEntry *> entries;
  rt::Status status;
  main.walk([&](stablehlo::ConstantOp op) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      return WalkResult::advance();
    DenseElementsAttr &elements = known[resource];
    if (!elements && !(elements = readElements(resource))) {
      status = refuse(op.getLoc(), resource);
      return WalkResult::interrupt();
    }
    op.setValueAttr(elements);
    entries.insert(resource.getRawHandle().getResource());
    return WalkResult::advance();
  });
  for (BlobEntry *entry : entries)
    entry->setBlob(AsmResourceBlob());
  return status;
}
