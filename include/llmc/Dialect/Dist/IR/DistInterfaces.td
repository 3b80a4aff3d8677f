//===- DistInterfaces.td - Interfaces of the dist dialect --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes ask of a collective without knowing which one it is.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTINTERFACES
#define LLMC_DIALECT_DIST_IR_DISTINTERFACES

include "mlir/IR/Interfaces.td"

def Dist_CollectiveInterface : OpInterface<"CollectiveInterface"> {
  let cppNamespace = "::llmc::dist";
  let description = "What all collectives over axes have in common.";
  let methods = [
    StaticInterfaceMethod<"Its kind, by its name.", "::llmc::CollectiveKind", "getCollectiveKind", (ins), [{}], [{
      constexpr ::llvm::StringLiteral name = ConcreteOp::getOperationName();
      constexpr auto kind = ::llmc::collectiveNamed(::std::string_view(name.data(), name.size()).substr(5));
      static_assert(kind, "expected the name of a collective after 'dist.'");
      return *kind;
    }]>,
    InterfaceMethod<"How the members' values combine; none where they do not.", "::std::optional<::llmc::ReductionKind>",
                    "getReductionKind", (ins), [{}], [{
      auto kind = $_op->template getAttrOfType<::llmc::dist::ReductionKindAttr>("kind");
      return kind ? ::std::optional(kind.getValue()) : ::std::nullopt;
    }]>,
    InterfaceMethod<"Buffers that are sent.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"Names of the axes, major to minor.", "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"Name that all members' clones share.", "::mlir::FlatSymbolRefAttr", "getSymbolAttr">,
    InterfaceMethod<"Mesh, when the types do not name it.", "::mlir::FlatSymbolRefAttr", "getMeshAttr">,
    InterfaceMethod<"Dims that are split and joined, the members it names, its counts.", "::llmc::dist::Exchange",
                    "getExchange">,
    InterfaceMethod<"Verifies one buffer's layouts and shapes.", "::llvm::LogicalResult", "verifyBuffer",
                    (ins "::mlir::RankedTensorType":$from, "::mlir::RankedTensorType":$to, "::llmc::dist::MeshAxesAttr":$mesh)>
  ];
}

#endif // LLMC_DIALECT_DIST_IR_DISTINTERFACES
