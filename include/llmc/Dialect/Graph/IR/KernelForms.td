//===- KernelForms.td - Forms that kernels may have --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the five, which needs no op: lists of ops print it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_KERNELFORMS_TD
#define LLMC_DIALECT_GRAPH_IR_KERNELFORMS_TD

include "mlir/IR/OpBase.td"

def KernelFormsOpInterface : OpInterface<"KernelFormsOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: which forms KernelOpInterface::getKernelForm may
    give, without an op at hand. It follows from what the op's answers define.
  }];
  let methods = [
    StaticInterfaceMethod<[{In the order of the enumeration, each once.}],
      "::llvm::SmallVector<::llmc::graph::KernelForm>", "getKernelForms", (ins)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_KERNELFORMS_TD
