//===- Dropout.td - Dropout as an attribute ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The struct that both houses share, in C++ alone, as an attribute of each
// dialect that has ops with one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_DROPOUT
#define LLMC_SUPPORT_DROPOUT

include "mlir/IR/AttrTypeBase.td"

def Llmc_DropoutParameter : AttrParameter<"::llmc::rt::Dropout", "the runtime's struct"> {
  let parser = "::llmc::parseDropout($_parser)";
  let printer = "::llmc::printDropout($_printer, $_self)";
}

class Llmc_DropoutAttr<Dialect dialect> : AttrDef<dialect, "Dropout"> {
  let summary = "which elements are dropped, by bits of a counter";
  let description = [{
    `<jax32 below 3865470566 factor 1.111111e+00>`: elements whose random bits
    are below the number are kept, those from it on with `from`; what is kept is
    multiplied by the factor. The kinds of bits are those of
    `llmc/Runtime/Base/RandomBits.h`.

    Constraints: the number has as many bits as are drawn; a positive factor.
  }];
  let parameters = (ins Llmc_DropoutParameter:$value);
  let mnemonic = "dropout";
  let assemblyFormat = "`<` $value `>`";
}

#endif // LLMC_SUPPORT_DROPOUT
