//===- FetchNames.h - What the user calls a sum -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of a part of a state is fetched as a box of the whole's:
//
//   slot step "grad.W.1", @W.1 part of @W   ->   "grad.W"
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H
#define LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc {

/// The part of a state whose gradient is summed in `slot`; else null.
dist::StateOp getSummedPart(mlir::SymbolTableCollection &tables,
                            ModuleOp module, dist::SlotAttr slot);

/// The name of the gradient of `state`.
std::string getGradientName(StringRef state);

/// The name under which the sum in `slot` is fetched.
std::string getFetchName(mlir::SymbolTableCollection &tables, ModuleOp module,
                         dist::SlotAttr slot);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H
