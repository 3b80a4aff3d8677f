//===- OpAssembly.cpp - Assembly of the hand-printed stablehlo ops --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduce has a compact form that names its function and a long form with a
// region, where pair j shows block arguments j and j + n. Constant prints its
// value only, and reads big masks as MLIR 22 and as JAX's MLIR print them;
// optimization_barrier has a form without operands.
// Test: test/Dialect/StableHLO/ops.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// A binary, commutative op of this dialect without regions.
static bool mayBeApplied(OperationName name) {
  return name.getDialectNamespace() == "stablehlo" &&
         name.hasTrait<OpTrait::IsCommutative>() &&
         name.hasTrait<OpTrait::NOperands<2>::Impl>() &&
         name.hasTrait<OpTrait::OneResult>() &&
         name.hasTrait<OpTrait::ZeroRegions>();
}

Operation *ReduceOp::getAppliedOp() {
  if (!getBody().hasOneBlock() || getInputs().size() != 1)
    return nullptr;
  Block &block = getBody().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &op = block.front();
  auto end = dyn_cast<ReturnOp>(block.back());
  auto input = dyn_cast<RankedTensorType>(getInputs().front().getType());
  if (!end || !input || !mayBeApplied(op.getName()) || !op.getAttrs().empty() ||
      !end->getAttrs().empty())
    return nullptr;
  Type scalar = RankedTensorType::get({}, input.getElementType());
  bool forwards = op.getOperand(0) == block.getArgument(0) &&
                  op.getOperand(1) == block.getArgument(1) &&
                  end.getResults().size() == 1 &&
                  end.getResults().front() == op.getResult(0);
  bool typed = block.getArgument(0).getType() == scalar &&
               block.getArgument(1).getType() == scalar &&
               op.getResult(0).getType() == scalar;
  return forwards && typed ? &op : nullptr;
}

namespace {
using Unresolved = OpAsmParser::UnresolvedOperand;
using Argument = OpAsmParser::Argument;
} // namespace

/// `(%a init: %c), (%b init: %d)`
static ParseResult parseInputs(OpAsmParser &parser,
                               SmallVectorImpl<Unresolved> &inputs,
                               SmallVectorImpl<Unresolved> &inits) {
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// `applies stablehlo.add`, if it is there.
static ParseResult parseApplied(OpAsmParser &parser,
                                std::optional<OperationName> &applied) {
  if (failed(parser.parseOptionalKeyword("applies")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<OperationName> name = parser.parseCustomOperationName();
  if (failed(name))
    return failure();
  if (!mayBeApplied(*name))
    return parser.emitError(loc)
           << "expected a commutative op of two operands, got '"
           << name->getStringRef() << "'";
  applied = *name;
  return success();
}

/// The body that the compact form stands for.
static ParseResult buildApplied(OpAsmParser &parser, SMLoc loc,
                                OperationName name, Type input, Location at,
                                Region &body) {
  auto tensor = dyn_cast<RankedTensorType>(input);
  if (!tensor)
    return parser.emitError(loc)
           << "expected a ranked tensor as first input, got " << input;
  Type scalar = RankedTensorType::get({}, tensor.getElementType());
  Block &block = body.emplaceBlock();
  block.addArguments({scalar, scalar}, {at, at});
  OpBuilder builder(parser.getContext()); // the region has no parent op yet
  builder.setInsertionPointToEnd(&block);
  OperationState state(at, name);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *op = builder.create(state);
  ReturnOp::create(builder, at, op->getResults());
  return success();
}

/// `reducer(%p: t, %r: t) (%q: u, %s: u) {..}`: pair j is arguments j and j +
/// n.
static ParseResult parseReducer(OpAsmParser &parser, size_t count,
                                Region &body) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<Argument> left, right;
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() ||
        parser.parseArgument(left.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(right.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  left.append(right);
  return parser.parseRegion(body, left);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Unresolved> inputs, inits;
  std::optional<OperationName> applied;
  FunctionType type;
  if (parseInputs(parser, inputs, inits) || parseApplied(parser, applied) ||
      parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual())
    return failure();
  auto dims = dyn_cast_or_null<DenseI64ArrayAttr>(
      DenseI64ArrayAttr::parse(parser, Type()));
  if (!dims)
    return failure();
  result.getOrAddProperties<Properties>().dimensions = dims;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  inputs.append(inits);
  if (parser.resolveOperands(inputs, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (!applied)
    return parseReducer(parser, inits.size(), *body);
  // The location follows the types and belongs to both ops.
  std::optional<Location> at;
  if (parser.parseOptionalLocationSpecifier(at))
    return failure();
  if (at)
    result.location = *at;
  return buildApplied(parser, loc, *applied, type.getInput(0), result.location,
                      *body);
}

void ReduceOp::print(OpAsmPrinter &printer) {
  size_t count = getInputs().size();
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer,
                        [&](auto pair) {
                          printer << "(" << std::get<0>(pair)
                                  << " init: " << std::get<1>(pair) << ")";
                        });
  Operation *applied = getAppliedOp();
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &block = getBody().front();
  for (size_t i = 0; i < count; ++i) {
    printer << "(";
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(i + count));
    printer << ") ";
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutput(), isa<IntegerType>(getOutput().getType().getElementType())
                           ? "c"
                           : "cst");
}

/// Whether `text`, up to its terminating NUL, starts as the hexadecimal form of
/// i1 elements: `dense<"0x01..."> : tensor<4x50xi1>`.
static bool startsAsHexBooleans(const char *text) {
  constexpr StringLiteral start = "dense<\"0x";
  if (std::strncmp(text, start.data(), start.size()) != 0)
    return false;
  text += start.size();
  text += std::strspn(text, "0123456789abcdefABCDEF");
  for (StringRef part : {"\"", ">", ":", "tensor<"}) {
    text += std::strspn(text, " \t\r\n");
    if (std::strncmp(text, part.data(), part.size()) != 0)
      return false;
    text += part.size();
  }
  text += std::strspn(text, "0123456789x");
  return std::strncmp(text, "i1", 2) == 0 && !isalnum(text[2]);
}

/// One byte an element, as newer printers write them, or one for all.
static std::optional<SmallVector<bool>> readBytes(StringRef data,
                                                  size_t count) {
  if (data.size() != count && data.size() != 1)
    return std::nullopt;
  SmallVector<bool> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(data[data.size() == count ? i : 0] != 0);
  return values;
}

/// One bit an element, from the lowest of the first byte on.
static std::optional<SmallVector<bool>> readBits(StringRef data, size_t count) {
  if (data.size() != llvm::divideCeil(count, 8u))
    return std::nullopt;
  SmallVector<bool> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(data[i / 8] >> (i % 8) & 1);
  return values;
}

/// i1 elements in hexadecimal: whichever reading has the right size; where both
/// have it, they must agree.
static ParseResult parseHexBooleans(OpAsmParser &parser, ElementsAttr &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text, data;
  RankedTensorType type;
  if (parser.parseKeyword("dense") || parser.parseLess() ||
      parser.parseString(&text) || parser.parseGreater() ||
      parser.parseColonType(type))
    return failure();
  if (!llmc::isBoolTensor(type) || text.size() % 2 != 0 ||
      !llvm::tryGetFromHex(StringRef(text).drop_front(2), data))
    return parser.emitError(loc) << "expected pairs of hexadecimal digits for "
                                    "the elements of a "
                                 << type;
  size_t count = type.getNumElements();
  std::optional<SmallVector<bool>> bytes = readBytes(data, count),
                                   bits = readBits(data, count);
  if (!bytes && !bits)
    return parser.emitError(loc)
           << "expected " << count << " bytes or " << llvm::divideCeil(count, 8)
           << " bytes of bits for the elements of " << type << ", got "
           << data.size();
  if (bytes && bits && *bytes != *bits)
    return parser.emitError(loc)
           << "expected elements with one meaning, got a byte that may be one "
              "value for all or a bit for each: write true and false";
  value = DenseElementsAttr::get(type, bytes ? *bytes : *bits);
  return success();
}

/// More elements are written in hexadecimal, by MLIR as by us.
static constexpr int64_t kMostWrittenOut = 100;

/// i1 elements with one byte each: MLIR 22 would write bits, which newer ones
/// (JAX's) do not read.
static void printHexBooleans(OpAsmPrinter &printer, DenseElementsAttr value) {
  std::string data;
  for (bool element : value.getValues<bool>())
    data.push_back(element ? 1 : 0);
  printer << "dense<\"0x" << llvm::toHex(data) << "\"> : " << value.getType();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  bool isHex = startsAsHexBooleans(parser.getCurrentLocation().getPointer());
  if (isHex ? parseHexBooleans(parser, value) : parser.parseAttribute(value))
    return failure();
  result.getOrAddProperties<Properties>().value = value;
  Type type = value.getShapedType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " ";
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (dense && llmc::isBoolTensor(dense.getType()) && !dense.isSplat() &&
      dense.getNumElements() > kMostWrittenOut)
    printHexBooleans(printer, dense);
  else
    printer << getValue();
  // The result of a laid out program may carry an encoding.
  if (getType() != getValue().getShapedType())
    printer << " -> " << getType();
}

//===----------------------------------------------------------------------===//
// Optimization barrier
//===----------------------------------------------------------------------===//

ParseResult OptimizationBarrierOp::parse(OpAsmParser &parser,
                                         OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalLParen()))
    return parser.parseRParen();
  SmallVector<Unresolved> operands;
  SmallVector<Type> types;
  if (parser.parseOperandList(operands) || parser.parseColonTypeList(types))
    return failure();
  auto function = dyn_cast<FunctionType>(types.front());
  ArrayRef<Type> inputs = function ? function.getInputs() : types;
  result.addTypes(function ? function.getResults() : ArrayRef<Type>(types));
  return parser.resolveOperands(operands, inputs, loc, result.operands);
}

void OptimizationBarrierOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs());
  if (getOperands().empty()) {
    printer << "()";
    return;
  }
  printer << " " << getOperands() << " : ";
  if (getOperandTypes() == getResultTypes())
    printer << getOperandTypes();
  else
    printer.printFunctionalType(*this);
}
