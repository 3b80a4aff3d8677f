//===- StateUse.h - What programs see of a state ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument that reads a state has the layout in which the state rests. Where
// the row says another `use`, ops of microbatches and entries see that one; the
// update works on what rests.
//
//   row = <rest = [{"data"}, {"t"}], use = [{}, {"t"}]>  (parameters at rest
//   split by data): ops see [{}, {"t"}], gathered from the argument
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_STATEUSE_H
#define LLMC_ANALYSIS_LAYOUTS_STATEUSE_H

#include "llmc/Analysis/Program/Program.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc {

/// The layout that ops see of an argument whose layout is `rest`. `symbols`:
/// those of the module.
dist::LayoutAttr getUseLayout(const mlir::SymbolTable &symbols,
                              const ProgramFunction &program, unsigned argument,
                              dist::LayoutAttr rest, dist::MeshAxesAttr mesh);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_STATEUSE_H
