//===- Chlo.cpp - The chlo dialect ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and tolerance for what is not known, as in stablehlo.
// Tests: test/Dialect/Chlo/{ops,invalid}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Support/PublishedDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace llmc::chlo;

/// A number without its type.
static ParseResult parseCount(OpAsmParser &parser, IntegerAttr &count) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  count = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}
static void printCount(OpAsmPrinter &printer, Operation *, IntegerAttr count) {
  printer << count.getInt();
}

#include "llmc/Dialect/Chlo/IR/ChloDialect.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloOps.cpp.inc"

LogicalResult TopKOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (from.getRank() == 0)
    return emitOpError("expected an operand of rank 1 or more, got ") << from;
  int64_t size = from.getShape().back(), k = static_cast<int64_t>(getK());
  if (k < 0 || k > size)
    return emitOpError("expected 'k' in [0, ") << size << "], got " << k;
  SmallVector<int64_t> shape(from.getShape());
  shape.back() = k;
  auto expect = [&](RankedTensorType type, Type element) {
    auto expected = RankedTensorType::get(shape, element);
    return withoutEncoding(type) == expected
               ? success()
               : emitOpError("expected a result of ")
                     << expected << ", got " << type;
  };
  return success(
      succeeded(expect(getValues().getType(), from.getElementType())) &&
      succeeded(
          expect(getIndices().getType(), IntegerType::get(getContext(), 32))));
}

void ChloDialect::initialize() {
  allowUnknownOperations();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
}

std::optional<Dialect::ParseOpHook>
ChloDialect::getParseOperationHook(StringRef) const {
  return getUnknownOpHook();
}
