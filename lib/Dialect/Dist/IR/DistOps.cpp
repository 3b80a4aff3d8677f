//===- DistOps.cpp - Generated ops and their custom text ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated op classes with the directives that their assembly formats
// name. Tested by test/Dialect/Dist/ops.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace llmc::dist;

/// `<"pipe"=2, "data"=4>`.
static ParseResult parseMeshAxes(OpAsmParser &parser, MeshAxesAttr &axes) {
  axes = dyn_cast_or_null<MeshAxesAttr>(MeshAxesAttr::parse(parser, Type()));
  return success(axes != nullptr);
}

static void printMeshAxes(OpAsmPrinter &printer, Operation *,
                          MeshAxesAttr axes) {
  axes.print(printer);
}

/// `["data", "tensor"]`.
static ParseResult parseAxisNames(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisNames(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer);
  printer << ']';
}

/// `0, 1`.
static ParseResult parseCoordinates(OpAsmParser &parser,
                                    DenseI64ArrayAttr &coordinates) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(
          [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  coordinates = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printCoordinates(OpAsmPrinter &printer, Operation *,
                             DenseI64ArrayAttr coordinates) {
  llvm::interleaveComma(coordinates.asArrayRef(), printer);
}

/// `{role = parameter, of = @w, row = ..., source = ..., optimizer = @f}`; role
/// comes first, the others may follow in any order.
static ParseResult parseStateFields(OpAsmParser &parser, RoleAttr &role,
                                    FlatSymbolRefAttr &of, RowAttr &row,
                                    Attribute &source,
                                    FlatSymbolRefAttr &optimizer) {
  StringRef word;
  if (parser.parseLBrace() || parser.parseKeyword("role") ||
      parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Role> value = symbolizeRole(word);
  if (!value)
    return parser.emitError(loc) << "expected parameter, optimizer, carried or "
                                    "constant, got '"
                                 << word << "'";
  role = RoleAttr::get(parser.getContext(), *value);
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc fieldLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    ParseResult result = failure();
    if (word == "of" && !of)
      result = parser.parseAttribute(of);
    else if (word == "row" && !row)
      result = parser.parseAttribute(row);
    else if (word == "source" && !source)
      result = parser.parseAttribute(source);
    else if (word == "optimizer" && !optimizer)
      result = parser.parseAttribute(optimizer);
    else
      parser.emitError(fieldLoc) << "expected one each of 'of', 'row', "
                                    "'source' and 'optimizer', got '"
                                 << word << "'";
    if (result)
      return failure();
  }
  return parser.parseRBrace();
}

static void printStateFields(OpAsmPrinter &printer, Operation *, RoleAttr role,
                             FlatSymbolRefAttr of, RowAttr row,
                             Attribute source, FlatSymbolRefAttr optimizer) {
  printer << "{role = " << stringifyRole(role.getValue());
  if (of)
    printer << ", of = " << of;
  if (row)
    printer << ", row = " << row;
  if (source)
    printer << ", source = " << source;
  if (optimizer)
    printer << ", optimizer = " << optimizer;
  printer << '}';
}

/// `forward`; in attributes the phase stands in angle brackets.
static ParseResult parsePhaseName(OpAsmParser &parser, PhaseAttr &phase) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Phase> value = symbolizePhase(word);
  if (!value)
    return parser.emitError(loc)
           << "expected forward, backward, backward_input, backward_weight or "
              "update, got '"
           << word << "'";
  phase = PhaseAttr::get(parser.getContext(), *value);
  return success();
}

static void printPhaseName(OpAsmPrinter &printer, Operation *,
                           PhaseAttr phase) {
  printer << stringifyPhase(phase.getValue());
}

/// A word of an enumeration.
template <typename Attr, typename Symbolize>
static ParseResult parseWord(OpAsmParser &parser, Attr &attribute,
                             StringRef expected, Symbolize symbolize) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto value = symbolize(word);
  if (!value)
    return parser.emitError(loc)
           << "expected " << expected << ", got '" << word << "'";
  attribute = Attr::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseEnterKindName(OpAsmParser &parser,
                                      EnterKindAttr &kind) {
  return parseWord(parser, kind, "same, row or carry",
                   [](StringRef word) { return symbolizeEnterKind(word); });
}

static void printEnterKindName(OpAsmPrinter &printer, Operation *,
                               EnterKindAttr kind) {
  printer << stringifyEnterKind(kind.getValue());
}

static ParseResult parseLeaveKindName(OpAsmParser &parser,
                                      LeaveKindAttr &kind) {
  return parseWord(parser, kind, "last, stack or sum",
                   [](StringRef word) { return symbolizeLeaveKind(word); });
}

static void printLeaveKindName(OpAsmPrinter &printer, Operation *,
                               LeaveKindAttr kind) {
  printer << stringifyLeaveKind(kind.getValue());
}

/// `: types` where inputs and results have equal types, else
/// `: types -> types`.
static ParseResult parseBufferTypes(OpAsmParser &parser,
                                    SmallVectorImpl<Type> &inputs,
                                    SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(inputs))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseTypeList(results);
  results.assign(inputs.begin(), inputs.end());
  return success();
}

static void printBufferTypes(OpAsmPrinter &printer, Operation *,
                             TypeRange inputs, TypeRange results) {
  llvm::interleaveComma(inputs, printer);
  if (inputs == results)
    return;
  printer << " -> ";
  llvm::interleaveComma(results, printer);
}

/// The same for one buffer.
static ParseResult parseBufferType(OpAsmParser &parser, Type &input,
                                   Type &result) {
  if (parser.parseType(input))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(result);
  result = input;
  return success();
}

static void printBufferType(OpAsmPrinter &printer, Operation *, Type input,
                            Type result) {
  printer << input;
  if (input != result)
    printer << " -> " << result;
}

/// Types of inputs, then `after` and the types after it.
static ParseResult parseFenceTypes(OpAsmParser &parser,
                                   SmallVectorImpl<Type> &inputs,
                                   SmallVectorImpl<Type> &after,
                                   SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(inputs))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("after")) &&
      parser.parseTypeList(after))
    return failure();
  results.assign(inputs.begin(), inputs.end());
  return success();
}

static void printFenceTypes(OpAsmPrinter &printer, Operation *,
                            TypeRange inputs, TypeRange after, TypeRange) {
  llvm::interleaveComma(inputs, printer);
  if (after.empty())
    return;
  printer << " after ";
  llvm::interleaveComma(after, printer);
}

/// `read tensor<24xf32>` or `scalar i32 below 4`.
static ParseResult parseArgument(OpAsmParser &parser, Attribute &argument) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  Type type;
  int64_t bound = 0;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Access> access = symbolizeAccess(word);
  if (!access)
    return parser.emitError(loc)
           << "expected read, write, readwrite or scalar, got '" << word << "'";
  if (parser.parseType(type) ||
      (*access == Access::Scalar &&
       (parser.parseKeyword("below") || parser.parseInteger(bound))))
    return failure();
  argument =
      ArgumentAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), *access, type, bound);
  return success(bool(argument));
}

static ParseResult parseArguments(OpAsmParser &parser, ArrayAttr &arguments) {
  SmallVector<Attribute> parsed;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parseArgument(parser, parsed.emplace_back());
      }))
    return failure();
  arguments = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printArguments(OpAsmPrinter &printer, Operation *,
                           ArrayAttr arguments) {
  printer << "(";
  llvm::interleaveComma(
      arguments.getAsRange<ArgumentAttr>(), printer, [&](ArgumentAttr each) {
        printer << stringifyAccess(each.getAccess()) << " " << each.getType();
        if (each.isScalar())
          printer << " below " << each.getBound();
      });
  printer << ")";
}

/// The members of a collective with a name stand in several programs. One whose
/// result a program does not use is not dead there: the others wait for it.
static void
addMeeting(FlatSymbolRefAttr name,
           SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
               &effects) {
  if (name)
    effects.emplace_back(MemoryEffects::Write::get());
}

#include "llmc/Dialect/Dist/IR/DistInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Dist/IR/DistOps.cpp.inc"
