//===- PlanInterfaces.td - What instructions have in common ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lifetimes, reduced waits and checks ask an instruction which bytes it reads
// and writes, whatever it is; the plan file asks what a library computes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANINTERFACES
#define LLMC_DIALECT_PLAN_IR_PLANINTERFACES

include "mlir/IR/Interfaces.td"

def Plan_InstructionInterface : OpInterface<"InstructionInterface"> {
  let cppNamespace = "::llmc::plan";
  let description = "An instruction of a program.";
  let methods = [
    InterfaceMethod<"The stream that runs it.", "::mlir::FlatSymbolRefAttr", "getStreamAttr">,
    InterfaceMethod<[{
      Its operands and what happens to them, scratch (written) included.
    }], "::llvm::SmallVector<::llmc::plan::OperandUse>", "getUses">
  ];
}

def Plan_LibraryDescriptorInterface : AttrInterface<"LibraryDescriptorInterface"> {
  let cppNamespace = "::llmc::plan";
  let description = "What a library computes: one attribute for each kind of descriptor of `llmc/Runtime/Base/Library.h`.";
  let methods = [
    InterfaceMethod<[{
      The runtime's descriptor for operands of these element types, in their
      order; those that are not there are taken as f32.
    }], "::llmc::rt::LibraryDescriptor", "getDescriptor", (ins "::llvm::ArrayRef<::llmc::rt::DType>":$types)>
  ];
}

#endif // LLMC_DIALECT_PLAN_IR_PLANINTERFACES
