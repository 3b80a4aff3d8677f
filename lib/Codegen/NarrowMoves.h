//===- NarrowMoves.h - bf16 values that are moved as bits -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NarrowMoves.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_NARROWMOVES_H
#define LLMC_LIB_CODEGEN_NARROWMOVES_H

namespace llvm {
class Module;
}

namespace llmc::codegen {

/// Has everything that only moves bf16 values move their bits. Behind all
/// optimisations.
void moveNarrowFloatsAsBits(llvm::Module &module);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_NARROWMOVES_H
