//===- NamedKind.td - Kinds of the runtime as attributes ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An enum that both houses share, in C++ alone, as an attribute: what EnumAttr
// is for the enums of TableGen.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_NAMEDKIND
#define LLMC_SUPPORT_NAMEDKIND

include "mlir/IR/AttrTypeBase.td"

class Llmc_NamedKindParameter<string kind, string text> : AttrParameter<"::llmc::" # kind, text> {
  let printer = "$_printer << ::llvm::StringRef(::llmc::nameOf($_self))";
}

class Llmc_NamedKindAttr<Dialect dialect, string kind, string name, string text>
    : AttrDef<dialect, kind> {
  let summary = text;
  let parameters = (ins Llmc_NamedKindParameter<kind, text>:$value);
  let mnemonic = name;
  let assemblyFormat = "$value";
  let returnType = "::llmc::" # kind;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = dialect.cppNamespace # "::" # kind # "Attr::get($_builder.getContext(), $0)";
}

#endif // LLMC_SUPPORT_NAMEDKIND
