//===- Assembly.h - Custom directives of the assembly formats ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the generated parsers and printers call. `T` stands for one type where
// operands and result agree, else the functional form `(A, B) -> C`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLY_H
#define LLMC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLY_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::Type;

/// Parses `T` or `(A, ..) -> C` into operand types and, last, the result type.
ParseResult parseTypesOrSame(OpAsmParser &parser, llvm::ArrayRef<Type *> types);
/// Prints the same.
void printTypesOrSame(OpAsmPrinter &printer, llvm::ArrayRef<Type> types);

/// `custom<SameTypes>(operand types..., result type)`.
template <typename... Types>
ParseResult parseSameTypes(OpAsmParser &parser, Types &...types) {
  return parseTypesOrSame(parser, {&types...});
}
template <typename... Types>
void printSameTypes(OpAsmPrinter &printer, Operation *, Types... types) {
  printTypesOrSame(printer, {Type(types)...});
}

/// `tensor<..xi1>, T` or the functional form.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue,
                             Type &onFalse, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred,
                      Type onTrue, Type onFalse, Type result);

/// `LT`; and `, SIGNED` if given.
ParseResult parseComparison(OpAsmParser &parser,
                            ComparisonDirectionAttr &direction);
void printComparison(OpAsmPrinter &printer, Operation *op,
                     ComparisonDirectionAttr direction);
ParseResult parseComparisonOrder(OpAsmParser &parser, ComparisonTypeAttr &type);
void printComparisonOrder(OpAsmPrinter &printer, Operation *op,
                          ComparisonTypeAttr type);

/// `THREE_FRY`; `NORMAL`.
ParseResult parseAlgorithm(OpAsmParser &parser, RngAlgorithmAttr &algorithm);
void printAlgorithm(OpAsmPrinter &printer, Operation *op,
                    RngAlgorithmAttr algorithm);
ParseResult parseDistribution(OpAsmParser &parser,
                              RngDistributionAttr &distribution);
void printDistribution(OpAsmPrinter &printer, Operation *op,
                       RngDistributionAttr distribution);

/// `IRFFT`.
ParseResult parseTransformKind(OpAsmParser &parser, FftTypeAttr &kind);
void printTransformKind(OpAsmPrinter &printer, Operation *op, FftTypeAttr kind);

/// `tensor<4xcomplex<f32>>`, from which the types of the parts follow, or the
/// functional form.
ParseResult parsePartTypes(OpAsmParser &parser, Type &lhs, Type &rhs,
                           Type &result);
void printPartTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs,
                    Type result);

/// `e8m7`: bits of exponent and mantissa.
ParseResult parseFloatFormat(OpAsmParser &parser,
                             mlir::IntegerAttr &exponentBits,
                             mlir::IntegerAttr &mantissaBits);
void printFloatFormat(OpAsmPrinter &printer, Operation *op,
                      mlir::IntegerAttr exponentBits,
                      mlir::IntegerAttr mantissaBits);

/// `[0:8, 0:64:2]`, stride 1 omitted.
ParseResult parseSliceRanges(OpAsmParser &parser,
                             mlir::DenseI64ArrayAttr &starts,
                             mlir::DenseI64ArrayAttr &limits,
                             mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op,
                      mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits,
                      mlir::DenseI64ArrayAttr strides);

/// `%a, %b,` before a keyword: each operand with its comma.
ParseResult parseOperandsThenComma(
    OpAsmParser &parser,
    llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printOperandsThenComma(OpAsmPrinter &printer, Operation *op,
                            mlir::OperandRange operands);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
ParseResult parseDotDimensions(OpAsmParser &parser,
                               DotDimensionNumbersAttr &dimensions);
void printDotDimensions(OpAsmPrinter &printer, Operation *op,
                        DotDimensionNumbersAttr dimensions);

/// `, precision = [DEFAULT, DEFAULT], algorithm = <..>`, each if given.
ParseResult parseDotPrecision(OpAsmParser &parser, mlir::ArrayAttr &precisions,
                              DotAlgorithmAttr &algorithm);
void printDotPrecision(OpAsmPrinter &printer, Operation *op,
                       mlir::ArrayAttr precisions, DotAlgorithmAttr algorithm);

/// `, precision = [DEFAULT, DEFAULT]`, if given.
ParseResult parsePrecision(OpAsmParser &parser, mlir::ArrayAttr &precisions);
void printPrecision(OpAsmPrinter &printer, Operation *op,
                    mlir::ArrayAttr precisions);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` (WindowAssembly.cpp).
ParseResult parseConvolutionDimensions(OpAsmParser &parser,
                                       ConvDimensionNumbersAttr &dimensions);
void printConvolutionDimensions(OpAsmPrinter &printer, Operation *op,
                                ConvDimensionNumbersAttr dimensions);

/// `stride = [2, 2], pad = [[1, 1], [0, 1]], lhs_dilate = [..], rhs_dilate =
/// [..], reverse = [false, true]`, each if given, in any order.
ParseResult parseWindowAttributes(OpAsmParser &parser,
                                  mlir::DenseI64ArrayAttr &strides,
                                  mlir::DenseIntElementsAttr &padding,
                                  mlir::DenseI64ArrayAttr &lhsDilation,
                                  mlir::DenseI64ArrayAttr &rhsDilation,
                                  mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *op,
                           mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding,
                           mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal);

/// `@Sharding`, `@"not-an-id"`: what a custom call calls (ControlAssembly.cpp).
ParseResult parseCallTarget(OpAsmParser &parser, mlir::StringAttr &target);
void printCallTarget(OpAsmPrinter &printer, Operation *op,
                     mlir::StringAttr target);

/// `tuple<T, U>`: the types of the values too (ControlAssembly.cpp).
ParseResult parseTupleTypes(OpAsmParser &parser,
                            llvm::SmallVectorImpl<Type> &values, Type &result);
void printTupleTypes(OpAsmPrinter &printer, Operation *op,
                     mlir::TypeRange values, Type result);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLY_H
