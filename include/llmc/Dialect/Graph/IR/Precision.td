//===- Precision.td - Which operands may be narrow floats --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the five, for policies of mixed precision. The models are
// in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_PRECISION_TD
#define LLMC_DIALECT_GRAPH_IR_PRECISION_TD

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: what of an op may be of a narrow float type. An op
    without this answer computes in the type of its operands, which a policy
    leaves wide: reductions, norms, exponentials, losses.
  }];
  let methods = [
    InterfaceMethod<[{
      Operands that the op multiplies with each other and whose products it adds
      up in f32 at least, whatever their type: rounding them is all that a
      narrow type changes. None where the text itself says how it multiplies.
    }], "::llvm::SmallVector<unsigned>", "getFactors", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Results that have the type of the factors; all others keep theirs.
    }], "::llvm::SmallVector<unsigned>", "getFactorResults", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Factors may be of different types. Where the op is linear in each of them
      as well, as its sharding rule says, they may be floats of eight bits,
      forward values of another kind than cotangents, with a scale for each.
    }], "bool", "mixesTypes", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Of an op of a backward: operands of which a rounding changes the results
      by no more than it has changed them, so that they may be kept narrow.
      Of products of two operands the sharding rule says so.
    }], "::llvm::SmallVector<unsigned>", "getRoundable", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      The elements of the result are elements of the first operand, moved,
      repeated or left out: rounding them before or after is the same.
    }], "bool", "isMove", (ins), [{}], [{ return false; }]>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_PRECISION_TD
