//===- LibraryCall.td - What a library is called for -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answer of an op that a device's library computes. It stands among the
// launches of a program once kernels are formed (phase 7); the models are in
// lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_TD
#define LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_TD

include "mlir/IR/OpBase.td"

def LibraryCallOpInterface : OpInterface<"LibraryCallOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    A call of a library: what it computes, of which buffers. Formation, ordering
    and the plan ask this and no op's name.
  }];
  let methods = [
    InterfaceMethod<[{
      The descriptor, types of the buffers included. On failure an error has been
      emitted at the op.
    }], "::llvm::FailureOr<::llmc::rt::LibraryDescriptor>", "getDescriptor", (ins)>,
    InterfaceMethod<[{
      One value for each buffer that `rt::operandsOf` names of the descriptor, in
      that order; a buffer that is read and written is the result.
    }], "::llvm::SmallVector<::mlir::Value>", "getBuffers", (ins)>,
    InterfaceMethod<[{Pairs (result, operand) that share a buffer.}],
      "::llvm::SmallVector<std::pair<int64_t, int64_t>>", "getTiedPairs", (ins)>,
    InterfaceMethod<[{
      Operand `operand` becomes a value of which it is the permutation: its dim d
      is dim `permutation[d]` of that value. Makes the op read it so, and returns
      true; false, with nothing changed, where it cannot.
    }], "bool", "readPermuted", (ins "unsigned":$operand, "::llvm::ArrayRef<int64_t>":$permutation),
      [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Makes the op write a permutation of its one result, whose dim d is dim
      `permutation[d]` of the result that it has, and returns true; false, with
      nothing changed, where it cannot. Nothing reads the result at this moment.
    }], "bool", "writePermuted", (ins "::llvm::ArrayRef<int64_t>":$permutation),
      [{}], [{ return false; }]>,
    InterfaceMethod<[{
      An order of the dims of factor `operand` of a product in which those that
      are added up come last, after those of a batch and those of the result,
      each in the order that the op has of them. Empty where there is no such
      factor.
    }], "::llvm::SmallVector<int64_t>", "getInnerOrder", (ins "unsigned":$operand), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Makes the op read factor `operand` from `copy`, whose dim d is dim
      `getInnerOrder(operand)[d]` of the factor.
    }], "void", "readInnerOrder", (ins "unsigned":$operand, "::mlir::Value":$copy),
      [{}], [{ return; }]>,
    InterfaceMethod<[{
      Makes the op add its result to `accumulator`, whose buffer it takes, and
      returns true; false, with nothing changed, where it cannot.
    }], "bool", "addTo", (ins "::mlir::Value":$accumulator), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Makes the op add `bias` to its result, with the bits of an addition that
      follows, and returns true; false, with nothing changed, where it cannot, or
      where libraries have no such epilogue. The dims of `bias`, but for those of
      size 1, are `dims` of the result; it is repeated along the others.
    }], "bool", "addBias", (ins "::mlir::Value":$bias, "::llvm::ArrayRef<int64_t>":$dims),
      [{}], [{ return false; }]>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_TD
