//===- ComplexParts.td - What ops do to parts of numbers ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the five, of ops that texts have on complex numbers. The
// models are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_TD
#define LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_TD

include "mlir/IR/OpBase.td"

def ComplexPartsOpInterface : OpInterface<"ComplexPartsOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers, which are of real numbers: what an op of complex
    numbers does to their real and imaginary parts. The import asks each op that has
    a complex operand or result, so that no later phase meets a complex number.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the op does to the real parts alone, and to the imaginary parts alone,
      what it does to numbers: it moves elements, or is linear with real factors.
    }], "bool", "isPartwise", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Builds, in front of the op, what computes the parts of its results, and appends
      these. `operands` has the parts of each operand. Blocks of regions that
      are handed on keep their complex values, which the caller splits. On failure an
      error has been emitted at the op.
    }], "::llvm::LogicalResult", "splitParts",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::llmc::graph::ComplexPair>":$operands,
           "::llvm::SmallVectorImpl<::llmc::graph::ComplexPair> &":$results)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_COMPLEXPARTS_TD
