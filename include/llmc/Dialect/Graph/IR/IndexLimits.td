//===- IndexLimits.td - Integers that name places ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the five, for what inputs may be. The models are in
// lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_TD
#define LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_TD

include "mlir/IR/OpBase.td"

def IndexOpInterface : OpInterface<"IndexOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: integers that count places of a dimension, as a
    token counts rows of an embedding. An op without this answer counts nothing
    by its operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Every integer of the operand names one of so many places; 0: it names none.
    }], "int64_t", "getIndexLimit", (ins "unsigned":$operand), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
      The values whose integers the result has wherever these are `limit` or
      more, at the same place or another; none where that depends. Mostly they
      are operands; of what a loop carries, also what it is in the next trip.
    }], "::llvm::SmallVector<::mlir::Value>", "getIndexSources", (ins "int64_t":$limit), [{}], [{ return {}; }]>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_INDEXLIMITS_TD
