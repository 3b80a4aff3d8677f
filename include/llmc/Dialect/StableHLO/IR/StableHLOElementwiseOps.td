//===- StableHLOElementwiseOps.td - Element-wise ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose result element depends on the operand elements of the same place.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "llmc/Dialect/StableHLO/IR/StableHLOAttributes.td"
include "llmc/Support/GraphTensor.td"

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHLO_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

class StableHLO_UnaryOp<string mnemonic, Type tensor, string text>
    : StableHLO_Op<mnemonic, [Pure, ElementwiseShape, UniformElement]> {
  let summary = text;
  let description = "Constraints: operand and result have one shape and element type.";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand);
  }]>];
  let assemblyFormat =
      "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}

/// A transcendental function, which may ask for an accuracy.
class StableHLO_AccurateOp<string mnemonic, string text>
    : StableHLO_UnaryOp<mnemonic, FloatOrComplexTensor, text> {
  let arguments = (ins FloatOrComplexTensor:$operand,
                       OptionalAttr<StableHLO_ResultAccuracyAttr>:$result_accuracy);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand,
          ResultAccuracyAttr());
  }]>];
}

def StableHLO_AbsOp : StableHLO_Op<"abs", [Pure, ElementwiseShape]> {
  let summary = "Absolute value";
  let description = [{
    Constraints: operand and result have one shape; the result has the operand's
    element type, or that of the parts of a complex one.
  }];
  let arguments = (ins SignedOrComplexTensor:$operand);
  let results = (outs SignedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand);
  }]>];
  let assemblyFormat =
      "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasVerifier = 1;
}
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", FloatTensor, "Round up">;
def StableHLO_CountLeadingZerosOp : StableHLO_UnaryOp<"count_leading_zeros", IntTensor,
    "Number of zero bits above the highest bit that is set">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", FloatTensor, "Round down">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", NumberOrComplexTensor, "Negation">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", BoolOrIntTensor,
                                        "Bitwise or logical complement">;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", IntTensor,
    "Number of bits that are set">;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", FloatTensor,
    "Round to nearest, ties away from zero">;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", FloatTensor,
    "Round to nearest, ties to even">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", SignedOrComplexTensor,
                                         "-1, 0 or 1; NaN stays NaN">;
def StableHLO_CbrtOp : StableHLO_AccurateOp<"cbrt", "Cube root">;
def StableHLO_CosineOp : StableHLO_AccurateOp<"cosine", "Cosine">;
def StableHLO_ExpOp : StableHLO_AccurateOp<"exponential", "Exponential">;
def StableHLO_Expm1Op : StableHLO_AccurateOp<"exponential_minus_one",
                                             "Exponential minus one">;
def StableHLO_LogOp : StableHLO_AccurateOp<"log", "Natural logarithm">;
def StableHLO_Log1pOp : StableHLO_AccurateOp<"log_plus_one",
                                             "Logarithm of one plus the operand">;
def StableHLO_LogisticOp : StableHLO_AccurateOp<"logistic", "Logistic function">;
def StableHLO_RsqrtOp : StableHLO_AccurateOp<"rsqrt", "Inverse square root">;
def StableHLO_SineOp : StableHLO_AccurateOp<"sine", "Sine">;
def StableHLO_SqrtOp : StableHLO_AccurateOp<"sqrt", "Square root">;
def StableHLO_TanOp : StableHLO_AccurateOp<"tan", "Tangent">;
def StableHLO_TanhOp : StableHLO_AccurateOp<"tanh", "Hyperbolic tangent">;

def StableHLO_ConvertOp : StableHLO_Op<"convert", [Pure, ElementwiseShape]> {
  let summary = "Conversion between element types";
  let description = [{
    To i1 the conversion is "not zero". A float that does not fit in an integer
    gives an unspecified value upstream; ours saturates.

    Constraints: operand and result have one shape.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$element), [{
    build($_builder, $_state,
          ::mlir::cast<::mlir::RankedTensorType>(withoutEncoding(operand.getType()))
              .clone(element), operand);
  }]>];
  let assemblyFormat =
      "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasFolder = 1;
}

def StableHLO_IsFiniteOp : StableHLO_Op<"is_finite", [Pure, ElementwiseShape]> {
  let summary = "Neither infinite nor NaN";
  let description = "Constraints: operand and result have one shape.";
  let arguments = (ins FloatTensor:$x);
  let results = (outs BoolTensor:$y);
  let builders = [OpBuilder<(ins "::mlir::Value":$x), [{
    build($_builder, $_state,
          withoutEncoding(x.getType()).clone($_builder.getI1Type()), x);
  }]>];
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ReducePrecisionOp : StableHLO_Op<"reduce_precision",
    [Pure, ElementwiseShape, UniformElement]> {
  let summary = "Rounding to the digits of a narrower float";
  let description = [{
    `format = e8m7` keeps 8 bits of exponent and 7 of mantissa: rounds to nearest
    even; what is too large becomes infinite, what is below the smallest normal
    number a zero of its sign.

    Constraints: operand and result have one shape and element type; at least one
    bit of exponent, no negative number of bits.
  }];
  let arguments = (ins FloatTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs FloatTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int32_t":$exponentBits,
                                 "int32_t":$mantissaBits), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand,
          static_cast<uint32_t>(exponentBits), static_cast<uint32_t>(mantissaBits));
  }]>];
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits)
    attr-dict `:` custom<SameTypes>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure, FixedElement]> {
  let summary = "The same bits as another element type";
  let description = [{
    Where the widths differ the narrower side has one more dimension, the last,
    whose elements are the parts of one wide element, lowest bits first.

    Constraints: shapes are equal, but for that last dimension, whose size is the
    ratio of the widths; no side is i1.
  }];
  let arguments = (ins NumberTensor:$operand);
  let results = (outs NumberTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

class StableHLO_BinaryOp<string mnemonic, Type tensor, string text,
                         list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([Pure, ElementwiseShape, UniformElement],
                                         traits)> {
  let summary = text;
  let description = "Constraints: operands and result have one shape and element type.";
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, withoutEncoding(lhs.getType()), lhs, rhs);
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_AddOp : StableHLO_BinaryOp<"add", GraphOrComplexTensor,
    "Sum; logical or on i1", [Commutative]>;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", NumberOrComplexTensor, "Difference">;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", GraphOrComplexTensor,
    "Product; logical and on i1", [Commutative]>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", NumberOrComplexTensor,
    "Quotient; integers truncate toward zero">;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", NumberTensor,
    "Remainder with the sign of the dividend">;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", NumberOrComplexTensor, "Power">;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", GraphTensor,
    "Maximum, NaN if either is; logical or on i1", [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", GraphTensor,
    "Minimum, NaN if either is; logical and on i1", [Commutative]>;
def StableHLO_AndOp : StableHLO_BinaryOp<"and", BoolOrIntTensor,
    "Bitwise or logical and", [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", BoolOrIntTensor,
    "Bitwise or logical or", [Commutative]>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", BoolOrIntTensor,
    "Bitwise or logical exclusive or", [Commutative]>;

def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", FloatTensor,
    "Angle of the point whose ordinate is the first operand">;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", IntTensor,
    "Bits moved up; 0 where the width or more is asked for">;
def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic", IntTensor,
    "Bits moved down, the sign bit repeated">;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical", IntTensor,
    "Bits moved down; 0 where the width or more is asked for">;

def StableHLO_CompareOp : StableHLO_Op<"compare", [Pure, ElementwiseShape]> {
  let summary = "Comparison";
  let description = [{
    A comparison with NaN is false, but for `NE`; `TOTALORDER` orders floats as
    their sign-magnitude bits. Without a type: `FLOAT`, `SIGNED` or `UNSIGNED`
    by the element type.

    Constraints: operands have one shape, the result's, and one element type;
    the comparison type suits it; complex numbers are equal or not, and have no
    order.
  }];
  let arguments = (ins GraphOrComplexTensor:$lhs, GraphOrComplexTensor:$rhs,
                       StableHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs BoolTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "ComparisonDirection":$direction)>];
  let extraClassDeclaration = [{
    /// The comparison type, deduced where it is not given.
    ComparisonType getOrderType();
  }];
  let assemblyFormat = [{
    custom<Comparison>($comparison_direction) `,` $lhs `,` $rhs
    `` custom<ComparisonOrder>($compare_type)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

def StableHLO_SelectOp : StableHLO_Op<"select", [Pure]> {
  let summary = "Element of one operand or of the other";
  let description = [{
    Constraints: `on_true`, `on_false` and the result have one shape and element
    type; `pred` has that shape or rank 0.
  }];
  let arguments = (ins BoolTensor:$pred, GraphOrComplexTensor:$on_true,
                       GraphOrComplexTensor:$on_false);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$pred, "::mlir::Value":$onTrue,
                                 "::mlir::Value":$onFalse), [{
    build($_builder, $_state, withoutEncoding(onTrue.getType()), pred, onTrue, onFalse);
  }]>];
  let assemblyFormat = [{
    operands attr-dict `:`
    custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ClampOp : StableHLO_Op<"clamp", [Pure, UniformElement]> {
  let summary = "Operand, not below `min` and not above `max`";
  let description = [{
    Constraints: all have one element type; operand and result have one shape;
    each bound has that shape or rank 0.
  }];
  let arguments = (ins GraphTensor:$min, GraphTensor:$operand, GraphTensor:$max);
  let results = (outs GraphTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$min, "::mlir::Value":$operand,
                                 "::mlir::Value":$max), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), min, operand, max);
  }]>];
  let assemblyFormat = [{
    operands attr-dict `:`
    custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD
