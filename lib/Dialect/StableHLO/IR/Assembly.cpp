//===- Assembly.cpp - Custom directives of the assembly formats -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pretty forms as JAX prints them: one blank before an enumerator, defaults
// kept where they were given.
// Test: test/Dialect/StableHLO/ops.mlir.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"

using namespace mlir;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static ParseResult parseFunctionalTypes(OpAsmParser &parser, SMLoc loc,
                                        FunctionType function,
                                        ArrayRef<Type *> types) {
  if (function.getNumInputs() != types.size() - 1 ||
      function.getNumResults() != 1)
    return parser.emitError(loc)
           << "expected " << types.size() - 1
           << " operand types and 1 result type, got "
           << function.getNumInputs() << " and " << function.getNumResults();
  for (auto [slot, type] : llvm::zip(types.drop_back(), function.getInputs()))
    *slot = type;
  *types.back() = function.getResult(0);
  return success();
}

ParseResult llmc::stablehlo::parseTypesOrSame(OpAsmParser &parser,
                                              ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return parseFunctionalTypes(parser, loc, function, types);
  for (Type *slot : types)
    *slot = type;
  return success();
}

void llmc::stablehlo::printTypesOrSame(OpAsmPrinter &printer,
                                       ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.back();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult llmc::stablehlo::parsePartTypes(OpAsmParser &parser, Type &lhs,
                                            Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result))
    return parseFunctionalTypes(parser, loc, function, {&lhs, &rhs, &result});
  lhs = rhs = graph::getPartType(result);
  if (!lhs)
    return parser.emitError(loc, "expected a tensor of complex numbers, got ")
           << result;
  return success();
}

void llmc::stablehlo::printPartTypes(OpAsmPrinter &printer, Operation *,
                                     Type lhs, Type rhs, Type result) {
  Type part = graph::getPartType(result);
  if (lhs == part && rhs == part)
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange{result});
}

ParseResult llmc::stablehlo::parseSelectTypes(OpAsmParser &parser, Type &pred,
                                              Type &onTrue, Type &onFalse,
                                              Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return parseFunctionalTypes(parser, loc, function,
                                {&pred, &onTrue, &onFalse, &result});
  pred = type;
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void llmc::stablehlo::printSelectTypes(OpAsmPrinter &printer, Operation *,
                                       Type pred, Type onTrue, Type onFalse,
                                       Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{pred, onTrue, onFalse},
                                ArrayRef<Type>{result});
}

//===----------------------------------------------------------------------===//
// Enumerators
//===----------------------------------------------------------------------===//

/// A bare enumerator. `symbolize` is the generated reader of its name.
template <typename Enum>
static ParseResult parseEnumerator(AsmParser &parser, StringRef what,
                                   std::optional<Enum> (*symbolize)(StringRef),
                                   Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> found = symbolize(name);
  if (!found)
    return parser.emitError(loc)
           << "expected a " << what << ", got '" << name << "'";
  value = *found;
  return success();
}

ParseResult
llmc::stablehlo::parseComparison(OpAsmParser &parser,
                                 ComparisonDirectionAttr &direction) {
  ComparisonDirection value;
  if (parseEnumerator(parser, "comparison direction",
                      symbolizeComparisonDirection, value))
    return failure();
  direction = ComparisonDirectionAttr::get(parser.getContext(), value);
  return success();
}

void llmc::stablehlo::printComparison(OpAsmPrinter &printer, Operation *,
                                      ComparisonDirectionAttr direction) {
  printer << stringifyComparisonDirection(direction.getValue());
}

ParseResult llmc::stablehlo::parseComparisonOrder(OpAsmParser &parser,
                                                  ComparisonTypeAttr &type) {
  if (failed(parser.parseOptionalComma()))
    return success();
  ComparisonType value;
  if (parseEnumerator(parser, "comparison type", symbolizeComparisonType,
                      value))
    return failure();
  type = ComparisonTypeAttr::get(parser.getContext(), value);
  return success();
}

void llmc::stablehlo::printComparisonOrder(OpAsmPrinter &printer, Operation *,
                                           ComparisonTypeAttr type) {
  if (type)
    printer << ", " << stringifyComparisonType(type.getValue());
}

ParseResult llmc::stablehlo::parseAlgorithm(OpAsmParser &parser,
                                            RngAlgorithmAttr &algorithm) {
  RngAlgorithm value;
  if (parseEnumerator(parser, "random algorithm", symbolizeRngAlgorithm, value))
    return failure();
  algorithm = RngAlgorithmAttr::get(parser.getContext(), value);
  return success();
}

void llmc::stablehlo::printAlgorithm(OpAsmPrinter &printer, Operation *,
                                     RngAlgorithmAttr algorithm) {
  printer << stringifyRngAlgorithm(algorithm.getValue());
}

ParseResult
llmc::stablehlo::parseDistribution(OpAsmParser &parser,
                                   RngDistributionAttr &distribution) {
  RngDistribution value;
  if (parseEnumerator(parser, "random distribution", symbolizeRngDistribution,
                      value))
    return failure();
  distribution = RngDistributionAttr::get(parser.getContext(), value);
  return success();
}

void llmc::stablehlo::printDistribution(OpAsmPrinter &printer, Operation *,
                                        RngDistributionAttr distribution) {
  printer << stringifyRngDistribution(distribution.getValue());
}

ParseResult llmc::stablehlo::parseTransformKind(OpAsmParser &parser,
                                                FftTypeAttr &kind) {
  FftType value;
  if (parseEnumerator(parser, "kind of transform", symbolizeFftType, value))
    return failure();
  kind = FftTypeAttr::get(parser.getContext(), value);
  return success();
}

void llmc::stablehlo::printTransformKind(OpAsmPrinter &printer, Operation *,
                                         FftTypeAttr kind) {
  printer << stringifyFftType(kind.getValue());
}

//===----------------------------------------------------------------------===//
// Formats of floats
//===----------------------------------------------------------------------===//

/// A keyword lexes as one word, "e8m7": its two numbers.
static bool readFloatFormat(StringRef word, int32_t &exponent,
                            int32_t &mantissa) {
  return word.consume_front("e") && !word.consumeInteger(10, exponent) &&
         word.consume_front("m") && !word.getAsInteger(10, mantissa);
}

ParseResult llmc::stablehlo::parseFloatFormat(OpAsmParser &parser,
                                              IntegerAttr &exponentBits,
                                              IntegerAttr &mantissaBits) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  int32_t exponent = 0, mantissa = 0;
  if (parser.parseKeyword(&word))
    return failure();
  if (!readFloatFormat(word, exponent, mantissa))
    return parser.emitError(loc)
           << "expected a format of floats such as e8m7, got '" << word << "'";
  exponentBits = parser.getBuilder().getI32IntegerAttr(exponent);
  mantissaBits = parser.getBuilder().getI32IntegerAttr(mantissa);
  return success();
}

void llmc::stablehlo::printFloatFormat(OpAsmPrinter &printer, Operation *,
                                       IntegerAttr exponentBits,
                                       IntegerAttr mantissaBits) {
  printer << "e" << exponentBits.getInt() << "m" << mantissaBits.getInt();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ParseResult llmc::stablehlo::parseSliceRanges(OpAsmParser &parser,
                                              DenseI64ArrayAttr &starts,
                                              DenseI64ArrayAttr &limits,
                                              DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    if (succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(stride.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}

void llmc::stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                       DenseI64ArrayAttr starts,
                                       DenseI64ArrayAttr limits,
                                       DenseI64ArrayAttr strides) {
  printer << "[";
  llvm::interleaveComma(
      llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()),
      printer, [&](auto range) {
        auto [start, limit, stride] = range;
        printer << start << ":" << limit;
        if (stride != 1)
          printer << ":" << stride;
      });
  printer << "]";
}

ParseResult llmc::stablehlo::parseOperandsThenComma(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void llmc::stablehlo::printOperandsThenComma(OpAsmPrinter &printer, Operation *,
                                             OperandRange operands) {
  // The blank before the keyword comes from the assembly format.
  llvm::interleave(
      operands, printer, [&](Value operand) { printer << operand << ","; },
      " ");
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// `[0, 1] x [2, 3]`
static ParseResult parseDimPairs(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &lhs,
                                 SmallVectorImpl<int64_t> &rhs) {
  auto parseList = [&](SmallVectorImpl<int64_t> &dims) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(dims.emplace_back());
    });
  };
  return failure(parser.parseEqual() || parseList(lhs) ||
                 parser.parseKeyword("x") || parseList(rhs));
}

ParseResult
llmc::stablehlo::parseDotDimensions(OpAsmParser &parser,
                                    DotDimensionNumbersAttr &dimensions) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseDimPairs(parser, lhsBatch, rhsBatch) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseDimPairs(parser, lhsContract, rhsContract))
    return failure();
  dimensions = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch,
                                            rhsBatch, lhsContract, rhsContract);
  return success();
}

static void printDimPairs(AsmPrinter &printer, StringRef name,
                          ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  printer << name << " = [";
  llvm::interleaveComma(lhs, printer);
  printer << "] x [";
  llvm::interleaveComma(rhs, printer);
  printer << "]";
}

void llmc::stablehlo::printDotDimensions(OpAsmPrinter &printer, Operation *,
                                         DotDimensionNumbersAttr dimensions) {
  ArrayRef<int64_t> lhs = dimensions.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhs = dimensions.getRhsBatchingDimensions();
  if (!lhs.empty() || !rhs.empty()) {
    printDimPairs(printer, "batching_dims", lhs, rhs);
    printer << ", ";
  }
  printDimPairs(printer, "contracting_dims",
                dimensions.getLhsContractingDimensions(),
                dimensions.getRhsContractingDimensions());
}

static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precisions) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    Precision value;
    if (parseEnumerator(parser, "precision", symbolizePrecision, value))
      return failure();
    list.push_back(PrecisionAttr::get(parser.getContext(), value));
    return success();
  };
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  precisions = parser.getBuilder().getArrayAttr(list);
  return success();
}

ParseResult llmc::stablehlo::parseDotPrecision(OpAsmParser &parser,
                                               ArrayAttr &precisions,
                                               DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (!precisions && succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisions(parser, precisions))
        return failure();
      continue;
    }
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword("algorithm") || parser.parseEqual())
      return failure();
    if (algorithm)
      return parser.emitError(loc) << "expected 'algorithm' once, got it twice";
    algorithm = dyn_cast_or_null<DotAlgorithmAttr>(
        DotAlgorithmAttr::parse(parser, Type()));
    if (!algorithm)
      return failure();
  }
  return success();
}

ParseResult llmc::stablehlo::parsePrecision(OpAsmParser &parser,
                                            ArrayAttr &precisions) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("precision") ||
                 parsePrecisions(parser, precisions));
}

void llmc::stablehlo::printPrecision(OpAsmPrinter &printer, Operation *,
                                     ArrayAttr precisions) {
  if (!precisions)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precisions.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr precision) {
                          printer << stringifyPrecision(precision.getValue());
                        });
  printer << "]";
}

void llmc::stablehlo::printDotPrecision(OpAsmPrinter &printer, Operation *op,
                                        ArrayAttr precisions,
                                        DotAlgorithmAttr algorithm) {
  printPrecision(printer, op, precisions);
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}
