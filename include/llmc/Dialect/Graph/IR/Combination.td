//===- Combination.td - Ops that combine elements ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What phase 1 asks of ops whose region combines elements with what is there
// already. The models are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_COMBINATION_TD
#define LLMC_DIALECT_GRAPH_IR_COMBINATION_TD

include "mlir/IR/OpBase.td"

def CombinationOpInterface : OpInterface<"CombinationOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: an op each of whose steps applies a function of
    scalars, its region, to an accumulator and an element (Combination.h).
  }];
  let methods = [
    InterfaceMethod<[{What is combined, and how.}], "::llmc::graph::Combination", "getCombination", (ins)>,
    InterfaceMethod<[{
      Builds another op, which takes the region of this one and has `scalars`, which
      that region uses from outside, as further accumulators that every step hands
      on. The first results of the new op are those of this one. Null, with nothing
      built, where the op cannot hold them.
    }], "::mlir::Operation *", "buildClosed",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$scalars),
      [{}], [{ return nullptr; }]>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_COMBINATION_TD
