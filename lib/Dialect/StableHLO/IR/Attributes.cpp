//===- Attributes.cpp - Attributes of the stablehlo dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures that print as `#stablehlo.gather<offset_dims = [2], ..>`:
// named fields in any order, each at most once, empty or zero ones omitted. An
// attribute of unknown name is kept verbatim. Tests:
// test/Dialect/StableHLO/{ops,invalid-text}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/AttributeFields.h"
#include "llmc/Support/PublishedDialect.h"
#include "llmc/Support/Refusal.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llmc/Dialect/StableHLO/IR/StableHLOEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/StableHLO/IR/StableHLOAttributes.cpp.inc"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

void StableHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/StableHLO/IR/StableHLOAttributes.cpp.inc"
      >();
}

Attribute StableHLODialect::parseAttribute(DialectAsmParser &parser,
                                           Type type) const {
  return parseOrKeep(
      parser, *this, [&](StringRef *mnemonic, Attribute &attribute) {
        return generatedAttributeParser(parser, mnemonic, type, attribute);
      });
}

Type StableHLODialect::parseType(DialectAsmParser &parser) const {
  Location loc = parser.getEncodedSourceLoc(parser.getCurrentLocation());
  InFlightDiagnostic diagnostic = emitRefusal(loc, rt::ErrorKind::unsupported)
                                  << "expected tensors, got '!stablehlo."
                                  << parser.getFullSymbolSpec()
                                  << "', which llmc does not have";
  if (parser.getFullSymbolSpec() == "token")
    diagnostic << " (it stands for ordered effects: print the model without "
                  "jax.debug.print(..., ordered=True) and io_callback)";
  return {};
}

void StableHLODialect::printAttribute(Attribute attribute,
                                      DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

using Dims = SmallVector<int64_t>;

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims lhsBatch, rhsBatch, lhsContract, rhsContract;
  AttributeField fields[] = {{"lhs_batching_dimensions", lhsBatch},
                             {"rhs_batching_dimensions", rhsBatch},
                             {"lhs_contracting_dimensions", lhsContract},
                             {"rhs_contracting_dimensions", rhsContract}};
  if (parseAttributeFields(parser, fields))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  AttributeFieldPrinter fields(printer);
  fields.list("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.list("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.list("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.list("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims offset, collapsed, operandBatch, indicesBatch, map;
  int64_t vectorDim = 0;
  AttributeField fields[] = {{"offset_dims", offset},
                             {"collapsed_slice_dims", collapsed},
                             {"operand_batching_dims", operandBatch},
                             {"start_indices_batching_dims", indicesBatch},
                             {"start_index_map", map},
                             {"index_vector_dim", vectorDim}};
  if (parseAttributeFields(parser, fields))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatch, indicesBatch,
             map, vectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  AttributeFieldPrinter fields(printer);
  fields.list("offset_dims", getOffsetDims());
  fields.list("collapsed_slice_dims", getCollapsedSliceDims());
  fields.list("operand_batching_dims", getOperandBatchingDims());
  fields.list("start_indices_batching_dims", getStartIndicesBatchingDims());
  fields.list("start_index_map", getStartIndexMap());
  fields.scalar("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims window, inserted, inputBatch, indicesBatch, map;
  int64_t vectorDim = 0;
  AttributeField fields[] = {{"update_window_dims", window},
                             {"inserted_window_dims", inserted},
                             {"input_batching_dims", inputBatch},
                             {"scatter_indices_batching_dims", indicesBatch},
                             {"scatter_dims_to_operand_dims", map},
                             {"index_vector_dim", vectorDim}};
  if (parseAttributeFields(parser, fields))
    return {};
  return get(parser.getContext(), window, inserted, inputBatch, indicesBatch,
             map, vectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  AttributeFieldPrinter fields(printer);
  fields.list("update_window_dims", getUpdateWindowDims());
  fields.list("inserted_window_dims", getInsertedWindowDims());
  fields.list("input_batching_dims", getInputBatchingDims());
  fields.list("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.list("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  fields.scalar("index_vector_dim", getIndexVectorDim());
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

LogicalResult
DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhs,
                         Type rhs, Type accumulation, int64_t lhsCount,
                         int64_t rhsCount, int64_t operations, bool) {
  if (!isa<FloatType>(lhs) || !isa<FloatType>(rhs) ||
      !isa<FloatType>(accumulation))
    return emitError() << "expected float types in a dot algorithm, got " << lhs
                       << ", " << rhs << " and " << accumulation;
  if (lhsCount < 1 || rhsCount < 1 || operations < 1)
    return emitError()
           << "expected counts of at least 1 in a dot algorithm, got "
           << lhsCount << ", " << rhsCount << " and " << operations;
  return success();
}

LogicalResult
ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           APFloat atol, APFloat rtol, int64_t ulps,
                           ResultAccuracyModeAttr mode) {
  auto legal = [](const APFloat &x) { return x.isFinite() && !x.isNegative(); };
  if (!legal(atol) || !legal(rtol) || ulps < 0)
    return emitError() << "expected finite tolerances of at least 0";
  bool given = atol.isNonZero() || rtol.isNonZero() || ulps != 0;
  bool wanted = mode.getValue() == ResultAccuracyMode::TOLERANCE;
  if (given != wanted)
    return emitError() << "expected tolerances with mode TOLERANCE and with no "
                          "other, got mode "
                       << stringifyResultAccuracyMode(mode.getValue());
  return success();
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode = ResultAccuracyModeAttr::get(
      parser.getContext(), ResultAccuracyMode::DEFAULT);
  SMLoc loc = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "atol")
      return parser.parseFloat(atol);
    if (name == "rtol")
      return parser.parseFloat(rtol);
    if (name == "ulps")
      return parser.parseInteger(ulps);
    if (name == "mode")
      return parser.parseAttribute(mode);
    return parser.emitError(at)
           << "expected a field of this attribute, got '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  AttributeFieldPrinter fields(printer);
  if (getAtol().isNonZero())
    fields.begin("atol").printFloat(getAtol());
  if (getRtol().isNonZero())
    fields.begin("rtol").printFloat(getRtol());
  fields.scalar("ulps", getUlps());
  fields.begin("mode") << getMode();
}
