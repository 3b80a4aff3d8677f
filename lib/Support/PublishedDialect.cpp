//===- PublishedDialect.cpp - Dialects whose text others print ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/{StableHLO,Chlo,Sdy}/{unknown,invalid}.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/PublishedDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace llmc {

Attribute parseOrKeep(
    DialectAsmParser &parser, const Dialect &dialect,
    function_ref<OptionalParseResult(StringRef *, Attribute &)> parseKnown) {
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult known = parseKnown(&mnemonic, attribute);
  if (known.has_value())
    return failed(*known) ? Attribute() : attribute;
  MLIRContext *context = dialect.getContext();
  return OpaqueAttr::get(StringAttr::get(context, dialect.getNamespace()),
                         parser.getFullSymbolSpec(), NoneType::get(context));
}

static ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  return parser.emitError(parser.getNameLoc())
         << "expected an op that llmc knows, got '" << state.name.getStringRef()
         << "', which llmc does not have";
}

Dialect::ParseOpHook getUnknownOpHook() { return refuseUnknownOp; }

LogicalResult verifyPairs(Operation *op, RankedTensorType lhs,
                          RankedTensorType rhs, StringRef what,
                          ArrayRef<int64_t> lhsDims,
                          ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return op->emitOpError("expected as many ")
           << what << " dimensions on the right as on the left, "
           << lhsDims.size() << ", got " << rhsDims.size();
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims)) {
    int64_t left = lhs.getDimSize(l), right = rhs.getDimSize(r);
    if (left != right)
      return op->emitOpError("expected ")
             << what << " dimensions " << l << " and " << r
             << " of one size, got " << left << " and " << right;
  }
  return success();
}

} // namespace llmc
