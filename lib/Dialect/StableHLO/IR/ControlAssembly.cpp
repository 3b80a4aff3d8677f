//===- ControlAssembly.cpp - Assembly of loops, calls, tuples -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %r:2 = stablehlo.while(%iterArg = %a, %iterArg_0 = %b) : T, U
//    cond {..} do {..}
//
// The arguments stand once for both regions, which have the same ones.
// Test: test/Dialect/StableHLO/control-flow.mlir.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

using namespace mlir;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

void WhileOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePair) ||
      (!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.addTypes(types);
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperands()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ")";
  if (!getOperands().empty())
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Custom call
//===----------------------------------------------------------------------===//

ParseResult llmc::stablehlo::parseCallTarget(OpAsmParser &parser,
                                             StringAttr &target) {
  return parser.parseSymbolName(target);
}

void llmc::stablehlo::printCallTarget(OpAsmPrinter &printer, Operation *,
                                      StringAttr target) {
  printer.printSymbolName(target);
}

//===----------------------------------------------------------------------===//
// Tuple
//===----------------------------------------------------------------------===//

ParseResult llmc::stablehlo::parseTupleTypes(OpAsmParser &parser,
                                             SmallVectorImpl<Type> &values,
                                             Type &result) {
  TupleType tuple;
  if (parser.parseType(tuple))
    return failure();
  values.assign(tuple.begin(), tuple.end());
  result = tuple;
  return success();
}

void llmc::stablehlo::printTupleTypes(OpAsmPrinter &printer, Operation *,
                                      TypeRange, Type result) {
  printer << result;
}
