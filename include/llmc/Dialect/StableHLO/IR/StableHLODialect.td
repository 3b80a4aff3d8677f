//===- StableHLODialect.td - The stablehlo dialect ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect, under its published name. Ops stand in the StableHLO*Ops.td
// files by theme, attributes in StableHLOAttributes.td.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD

include "mlir/IR/OpBase.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::llmc::stablehlo";
  let summary = "Graph-level tensor ops of the published StableHLO language";
  let description = [{
    Our own implementation of the part of StableHLO that models use, with the
    published names and assembly, so that text printed by JAX parses verbatim
    and text that we print parses in JAX's own library.

    - An op that we do not know is read in its generic form and kept opaque; in
      its pretty form it is one error that names the op.
    - An attribute that we do not know is kept verbatim.
    - Tensors have static shapes. Verifiers compare shapes and element types,
      never encodings, and nothing infers a result type.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
    /// Refuses any: tensors are MLIR's.
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;

  private:
    void registerAttributes();
    void registerOps();

  public:
  }];
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD
