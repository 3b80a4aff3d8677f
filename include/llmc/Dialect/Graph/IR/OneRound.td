//===- OneRound.td - Rows combined in one round ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the five, for rows that are split over devices. The models
// are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_ONEROUND_TD
#define LLMC_DIALECT_GRAPH_IR_ONEROUND_TD

include "mlir/IR/OpBase.td"

def OneRoundOpInterface : OpInterface<"OneRoundOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: an op whose distributed form has sums over devices
    of which one waits for another may say what is enough to know of each part
    of its rows. All devices then get that of all parts at once, and combine it
    alike.

    `parts` has for each dim of the first operand in how many equal parts it
    lies; 1 for dims that are not of the rows. At least one is more than 1.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, in front of the op, what is enough to know of each part: terms of
      one shape, the first dim of which numbers the parts in row-major order,
      and the others are those that are not of the rows. What is built has plain
      rules, and nothing of it combines elements of different parts.
    }], "void", "buildPartTerms",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<int64_t>":$parts,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$terms)>,
    InterfaceMethod<[{
      Builds, in front of the op, the replacements of its results from the
      operands and the terms of all parts, which are added up in their order.
    }], "void", "buildFromTerms",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<int64_t>":$parts,
           "::mlir::ValueRange":$terms, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_ONEROUND_TD
