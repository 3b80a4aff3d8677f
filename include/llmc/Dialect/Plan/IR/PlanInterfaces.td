//===- PlanInterfaces.td - What instructions have in common ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lifetimes, reduced waits and checks ask an instruction which bytes it reads
// and writes, whatever it is.
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

#endif // LLMC_DIALECT_PLAN_IR_PLANINTERFACES
