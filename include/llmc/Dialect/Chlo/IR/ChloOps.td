//===- ChloOps.td - The chlo dialect and its ops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that JAX prints beside stablehlo. Importing keeps them; derivatives
// and kernels know them as they know stablehlo's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_CHLO_IR_CHLOOPS_TD
#define LLMC_DIALECT_CHLO_IR_CHLOOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "llmc/Support/GraphTensor.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::llmc::chlo";
  let summary = "Functions that JAX prints beside stablehlo";
  let description = [{
    Our own implementation of the few chlo ops that models use, under their
    published names and assembly. An unknown op is kept opaque in its generic
    form, and is one error in its pretty form; an unknown attribute is kept
    verbatim.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
    void registerAttributes();
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;
  }];
}

def Chlo_Precision : I32EnumAttr<"Precision", "wanted precision of a product's operand", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>,
    I32EnumAttrCase<"HIGHEST", 2>]> {
  let cppNamespace = "::llmc::chlo";
  let genSpecializedAttr = 0;
}
def Chlo_PrecisionAttr : EnumAttr<Chlo_Dialect, Chlo_Precision, "precision">;
def Chlo_PrecisionConfigAttr
    : TypedArrayAttrBase<Chlo_PrecisionAttr, "one precision for each operand">;

def Chlo_RaggedDotDimensionNumbersAttr
    : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "Dimensions of a product whose left side has groups along one of them";
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$lhsBatchingDimensions,
    OptionalArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
    OptionalArrayRefParameter<"int64_t">:$lhsContractingDimensions,
    OptionalArrayRefParameter<"int64_t">:$rhsContractingDimensions,
    OptionalArrayRefParameter<"int64_t">:$lhsRaggedDimensions,
    OptionalArrayRefParameter<"int64_t">:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

class Chlo_UnaryOp<string mnemonic, Type tensor, string text>
    : Op<Chlo_Dialect, mnemonic, [Pure, ElementwiseShape, UniformElement]> {
  let summary = text;
  let description = "Constraints: operand and result have one shape and element type.";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

class Chlo_BinaryOp<string mnemonic, Type tensor, string text>
    : Op<Chlo_Dialect, mnemonic, [Pure, ElementwiseShape, UniformElement]> {
  let summary = text;
  let description = "Constraints: operands and result have one shape and element type.";
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, withoutEncoding(lhs.getType()), lhs, rhs);
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def Chlo_AcosOp : Chlo_UnaryOp<"acos", FloatOrComplexTensor, "Arc cosine">;
def Chlo_AcoshOp : Chlo_UnaryOp<"acosh", FloatOrComplexTensor, "Inverse hyperbolic cosine">;
def Chlo_AsinOp : Chlo_UnaryOp<"asin", FloatOrComplexTensor, "Arc sine">;
def Chlo_AsinhOp : Chlo_UnaryOp<"asinh", FloatOrComplexTensor, "Inverse hyperbolic sine">;
def Chlo_AtanOp : Chlo_UnaryOp<"atan", FloatOrComplexTensor, "Arc tangent">;
def Chlo_AtanhOp : Chlo_UnaryOp<"atanh", FloatOrComplexTensor, "Inverse hyperbolic tangent">;
def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e", FloatTensor,
    "Modified Bessel function of order 1, times exp(-|x|)">;
def Chlo_CoshOp : Chlo_UnaryOp<"cosh", FloatOrComplexTensor, "Hyperbolic cosine">;
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma", FloatTensor,
    "Derivative of the logarithm of the gamma function; NaN at its poles">;
def Chlo_ErfOp : Chlo_UnaryOp<"erf", FloatTensor, "Error function">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", FloatTensor, "One minus the error function">;
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv", FloatTensor, "Inverse of the error function">;
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma", FloatTensor,
    "Logarithm of the magnitude of the gamma function">;
def Chlo_MulhiOp : Chlo_BinaryOp<"mulhi", IntTensor, "Upper half of the product">;
def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", FloatTensor,
    "The float beside the first operand, toward the second">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", FloatTensor,
    "Derivative, of the order of the first operand, of digamma at the second">;
def Chlo_SinhOp : Chlo_UnaryOp<"sinh", FloatOrComplexTensor, "Hyperbolic sine">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", FloatOrComplexTensor, "Product with itself">;

def Chlo_TopKOp : Op<Chlo_Dialect, "top_k", [Pure]> {
  let summary = "The greatest elements of the last dimension, and where they stand";
  let description = [{
    Constraints: rank of at least 1; 0 <= k <= size of the last dimension; both
    results have the operand's shape with k in the last place, of the operand's
    elements and of i32.
  }];
  let arguments = (ins GraphTensor:$operand, I64Attr:$k);
  let results = (outs GraphTensor:$values, GraphTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` custom<Count>($k) `)` attr-dict `:`
    type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

def Chlo_RaggedDotOp : Op<Chlo_Dialect, "ragged_dot", [Pure]> {
  let summary = "Products of groups of rows, each with a matrix of its own";
  let description = [{
    The left side's ragged dimension holds groups one after another, of
    `group_sizes` elements. Where it is a free one, each group is contracted with
    its slice of the right side's group dimension, and what lies past the last group
    gives 0. Where it is contracted, each group is contracted alone, and groups are
    the result's first dimension. Where it is a batching one, the op is
    `dot_general`. The import writes it with other ops.

    Constraints: group sizes of rank 1; one ragged dimension; batching,
    contracting and group dimensions pair off, are distinct on each side and have
    equal sizes; a group dimension, of as many elements as there are groups, where
    the ragged one is free, and none elsewhere; operands and result are all floats
    or all integers; precisions are none or two.
  }];
  let arguments = (ins GraphTensor:$lhs, GraphTensor:$rhs, IntTensor:$group_sizes,
                       Chlo_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
                       OptionalAttr<Chlo_PrecisionConfigAttr>:$precision_config);
  let results = (outs GraphTensor:$result);
  let extraClassDeclaration = [{
    /// What the one ragged dimension is.
    RaggedKind getRaggedKind();
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_CHLO_IR_CHLOOPS_TD
