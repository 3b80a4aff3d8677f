//===- Batching.td - What all devices compute of an op -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answer of an op that may stand in a manual region, asked by the import,
// which makes one program of all devices of what is written for one. The models
// are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_BATCHING_TD
#define LLMC_DIALECT_GRAPH_IR_BATCHING_TD

include "mlir/IR/OpBase.td"

def BatchingOpInterface : OpInterface<"BatchingOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: the op on values of all devices, which have leading
    dims (Batching.h). Not asked where all operands are the same on all devices.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds in front of the op what all devices compute of it, and appends the
      results. On failure an error has been emitted at the op: a refusal.
    }], "::llvm::LogicalResult", "buildBatched", (ins "::llmc::graph::BatchForm &":$form)>,
  ];
}

def DeviceOpInterface : OpInterface<"DeviceOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    In place of the five answers: an op of a manual region that reads values of
    other devices, or asks which device it is on. The import replaces it: over
    leading dims an exchange between devices is a reduction or a permutation, of
    which layouts, derivative and kernels are known.
  }];
  let methods = [
    InterfaceMethod<[{
      The same as `buildBatched`; also asked where the operands are the same on
      all devices.
    }], "::llvm::LogicalResult", "buildForDevices", (ins "::llmc::graph::BatchForm &":$form)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_BATCHING_TD
