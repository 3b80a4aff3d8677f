//===- ChloOps.td - The chlo dialect and its ops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that JAX prints beside stablehlo. Importing keeps them; derivatives
// and kernels know them as they know stablehlo's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_CHLO_IR_CHLOOPS_TD
#define LLMC_DIALECT_CHLO_IR_CHLOOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "llmc/Support/GraphTensor.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::llmc::chlo";
  let summary = "Element-wise functions that JAX prints beside stablehlo";
  let description = [{
    Our own implementation of the few chlo ops that models use, under their
    published names and assembly. An unknown op is kept opaque in its generic
    form, and is one error in its pretty form; an unknown attribute is kept
    verbatim.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;
  }];
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

def Chlo_ErfOp : Chlo_UnaryOp<"erf", FloatTensor, "Error function">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", FloatTensor, "One minus the error function">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", FloatTensor, "Product with itself">;

#endif // LLMC_DIALECT_CHLO_IR_CHLOOPS_TD
