//===- RaggedDot.cpp - Attributes and verifier of ragged_dot --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attribute of unknown name is kept verbatim.
// Tests: test/Dialect/Chlo/{ops,invalid,unknown}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Support/AttributeFields.h"
#include "llmc/Support/PublishedDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llmc/Dialect/Chlo/IR/ChloEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloAttributes.cpp.inc"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void ChloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/Chlo/IR/ChloAttributes.cpp.inc"
      >();
}

Attribute ChloDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  return parseOrKeep(
      parser, *this, [&](StringRef *mnemonic, Attribute &attribute) {
        return generatedAttributeParser(parser, mnemonic, type, attribute);
      });
}

void ChloDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, ragged,
      group;
  AttributeField fields[] = {{"lhs_batching_dimensions", lhsBatch},
                             {"rhs_batching_dimensions", rhsBatch},
                             {"lhs_contracting_dimensions", lhsContract},
                             {"rhs_contracting_dimensions", rhsContract},
                             {"lhs_ragged_dimensions", ragged},
                             {"rhs_group_dimensions", group}};
  if (parseAttributeFields(parser, fields))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract,
             ragged, group);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  AttributeFieldPrinter fields(printer);
  fields.list("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.list("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.list("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.list("rhs_contracting_dimensions", getRhsContractingDimensions());
  fields.list("lhs_ragged_dimensions", getLhsRaggedDimensions());
  fields.list("rhs_group_dimensions", getRhsGroupDimensions());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Each of `dims` lies in the operand and occurs once.
static LogicalResult verifySide(RaggedDotOp op, StringRef side,
                                ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || !seen.insert(dim).second)
      return op.emitOpError("expected distinct ")
             << side << " dimensions in [0, " << rank << "), got " << dim;
  return success();
}

/// The ragged dimension, the groups, and the group dimension that goes with
/// them.
static LogicalResult verifyGroups(RaggedDotOp op) {
  auto dims = op.getRaggedDotDimensionNumbers();
  if (dims.getLhsRaggedDimensions().size() != 1)
    return op.emitOpError("expected one ragged dimension, got ")
           << dims.getLhsRaggedDimensions().size();
  RankedTensorType sizes = op.getGroupSizes().getType();
  if (sizes.getRank() != 1)
    return op.emitOpError("expected group sizes of rank 1, got ") << sizes;
  ArrayRef<int64_t> group = dims.getRhsGroupDimensions();
  size_t expected = op.getRaggedKind() == RaggedKind::Free ? 1 : 0;
  if (group.size() != expected)
    return op.emitOpError("expected ")
           << expected << " group dimensions of the right side, got "
           << group.size();
  if (expected == 0 ||
      op.getRhs().getType().getDimSize(group[0]) == sizes.getDimSize(0))
    return success();
  return op.emitOpError("expected a group dimension of size ")
         << sizes.getDimSize(0) << ", got " << op.getRhs().getType();
}

static void appendFree(RankedTensorType type, ArrayRef<int64_t> without,
                       SmallVectorImpl<int64_t> &shape) {
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(without, static_cast<int64_t>(dim)))
      shape.push_back(size);
}

RaggedKind RaggedDotOp::getRaggedKind() {
  auto dims = getRaggedDotDimensionNumbers();
  int64_t ragged = dims.getLhsRaggedDimensions().front();
  if (llvm::is_contained(dims.getLhsContractingDimensions(), ragged))
    return RaggedKind::Contracted;
  if (llvm::is_contained(dims.getLhsBatchingDimensions(), ragged))
    return RaggedKind::Batching;
  return RaggedKind::Free;
}

static LogicalResult verifyElements(RaggedDotOp op) {
  bool real = isFloatTensor(op.getType());
  if (isFloatTensor(op.getLhs().getType()) == real &&
      isFloatTensor(op.getRhs().getType()) == real)
    return success();
  return op.emitOpError("expected operands and result all of floats or all of "
                        "integers, got ")
         << op.getLhs().getType() << ", " << op.getRhs().getType() << " and "
         << op.getType();
}

LogicalResult RaggedDotOp::verify() {
  auto dims = getRaggedDotDimensionNumbers();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  auto join = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                 ArrayRef<int64_t> c = {}) {
    SmallVector<int64_t> all(a);
    llvm::append_range(all, b);
    llvm::append_range(all, c);
    return all;
  };
  SmallVector<int64_t> ofLhs =
      join(dims.getLhsBatchingDimensions(), dims.getLhsContractingDimensions());
  SmallVector<int64_t> ofRhs =
      join(dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions(),
           dims.getRhsGroupDimensions());
  if (failed(verifySide(*this, "lhs", ofLhs, lhs.getRank())) ||
      failed(verifySide(*this, "rhs", ofRhs, rhs.getRank())) ||
      failed(verifySide(*this, "ragged", dims.getLhsRaggedDimensions(),
                        lhs.getRank())) ||
      failed(verifyPairs(*this, lhs, rhs, "batching",
                         dims.getLhsBatchingDimensions(),
                         dims.getRhsBatchingDimensions())) ||
      failed(verifyPairs(*this, lhs, rhs, "contracting",
                         dims.getLhsContractingDimensions(),
                         dims.getRhsContractingDimensions())) ||
      failed(verifyGroups(*this)) || failed(verifyElements(*this)))
    return failure();
  if (auto precisions = getPrecisionConfig();
      precisions && !precisions->empty() && precisions->size() != 2)
    return emitOpError("expected 2 precisions, got ") << precisions->size();
  SmallVector<int64_t> shape;
  if (getRaggedKind() == RaggedKind::Contracted)
    shape.push_back(getGroupSizes().getType().getDimSize(0));
  for (int64_t dim : dims.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dim));
  appendFree(lhs, ofLhs, shape);
  appendFree(rhs, ofRhs, shape);
  if (getType().getShape() == ArrayRef<int64_t>(shape))
    return success();
  return emitOpError("expected a result of ")
         << getType().clone(shape) << ", got " << getType();
}
