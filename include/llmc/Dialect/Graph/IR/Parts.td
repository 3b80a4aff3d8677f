//===- Parts.td - Parts of what is put together of parts ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the sharding rule, for ops of which a part is known where a
// factor of the rule cannot say it. The models are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_PARTS_TD
#define LLMC_DIALECT_GRAPH_IR_PARTS_TD

include "mlir/IR/OpBase.td"

def PartOpInterface : OpInterface<"PartOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: an op of one result that is put together of parts
    of its operands, or takes one. Of most ops the sharding rule and the local
    form say what a part is.
  }];
  let methods = [
    InterfaceMethod<[{
      The result at the positions `range`, of parts of operands that `partOf`
      gives; ops are built at the insertion point. Null, with nothing built,
      where it is not simpler than a slice of the result.
    }], "::mlir::Value", "buildPart",
      (ins "::mlir::OpBuilder &":$builder, "::llmc::graph::DimRange":$range,
           "::llmc::graph::PartOf":$partOf)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_PARTS_TD
